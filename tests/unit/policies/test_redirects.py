from __future__ import annotations

from typing import Any

import ormsgpack
import pytest

from skitter.frontier import Request
from skitter.policies.redirects import META_KEY, RedirectRules, Refused, hops
from skitter.settings import RedirectSettings

BASE = "https://a.com/dir/page?q=1"
RULES = RedirectRules()


def follow(location: str | bytes, status: int = 302, **fields: Any) -> Request:
    child = RULES.follow(Request("j", fields.pop("url", BASE), **fields), status, location)
    assert isinstance(child, Request), child
    return child


def refused(location: str | bytes, status: int = 302, **fields: Any) -> str:
    rules = fields.pop("rules", RULES)
    answer = rules.follow(Request("j", fields.pop("url", BASE), **fields), status, location)
    assert isinstance(answer, Refused), answer
    return answer.reason


@pytest.mark.parametrize(
    ("location", "url"),
    [
        ("/x", "https://a.com/x"),
        ("x", "https://a.com/dir/x"),
        ("?p=2", "https://a.com/dir/page?p=2"),
        ("//b.com/x", "https://b.com/x"),
        ("https://B.com:443/x#top", "https://b.com/x"),
        ("HTTPS://b.com", "https://b.com/"),
        (" /x ", "https://a.com/x"),
        ("/a b", "https://a.com/a%20b"),
        ("/ä".encode(), "https://a.com/%C3%A4"),
        ("/ä".encode("latin-1"), "https://a.com/%C3%A4"),
        ("/x/../y", "https://a.com/y"),
    ],
)
def test_where_a_location_leads(location: str | bytes, url: str) -> None:
    assert follow(location).url == url


@pytest.mark.parametrize(
    "location",
    ["ftp://a.com/", "javascript:alert(1)", "data:,x", "mailto:a@b.c", "http://[bad/", "http:///x",
     "https://user:secret@a.com/", "https://" + "a" * 300 + "/", "file:///etc/passwd"],
)  # fmt: skip
def test_what_is_no_place_to_go(location: str) -> None:
    reason = refused(location)
    assert reason.startswith("redirect to a bad URL")
    assert "secret" not in reason


@pytest.mark.parametrize("status", [200, 300, 304, 305, 306, 404])
def test_what_is_no_redirect(status: int) -> None:
    assert refused("/x", status) == "no redirect"
    assert refused("", 302) == "no redirect"


@pytest.mark.parametrize(
    ("status", "method", "becomes"),
    [
        (301, "POST", "GET"), (302, "POST", "GET"), (303, "POST", "GET"), (303, "PUT", "GET"),
        (303, "HEAD", "HEAD"), (301, "PUT", "PUT"), (302, "HEAD", "HEAD"), (307, "POST", "POST"),
        (308, "POST", "POST"), (308, "DELETE", "DELETE"), (303, "GET", "GET"),
    ],
)  # fmt: skip
def test_which_method_and_body_survive(status: int, method: str, becomes: str) -> None:
    headers = {"Content-Type": "text/plain", "content-length": "4", "Accept": "x"}
    child = follow("/x", status, method=method, body=b"body", headers=headers)
    assert child.method == becomes
    kept = becomes == method
    assert child.body == (b"body" if kept else b"")
    assert ("Content-Type" in child.headers) == kept
    assert ("content-length" in child.headers) == kept
    assert child.headers["Accept"] == "x"


SECRETS = {
    "Authorization": "Basic x",
    "Cookie": "a=b",
    "X-Api-Key": "k",
    "X-Auth-Token": "t",
    "Referer": "https://a.com/",
}


@pytest.mark.parametrize(
    ("location", "kept"),
    [
        ("/x", set(SECRETS)),
        ("https://b.com/", set()),
        ("https://www.a.com/", set()),
        ("https://a.com:8443/", set()),
        ("http://a.com/", set()),
    ],
)
def test_secrets_stay_with_their_origin(location: str, kept: set[str]) -> None:
    headers = {**SECRETS, "Accept": "x", "Proxy-Authorization": "p", "host": "a.com"}
    assert set(follow(location, headers=headers).headers) == kept | {"Accept"}


def test_cookies_go_along_to_https_of_the_same_host() -> None:
    child = follow("https://a.com/x", url="http://a.com/x", headers=SECRETS)
    assert set(child.headers) == {"Cookie"}
    assert follow("https://b.com/x", url="http://a.com/x", headers=SECRETS).headers == {}


def test_from_https_to_http_goes_no_body_and_by_setting_nothing() -> None:
    assert follow("http://a.com/x").url == "http://a.com/x"
    assert refused("http://a.com/x", 307, method="POST", body=b"pw") == (
        "redirect from https to http with a body"
    )
    assert follow("http://a.com/x", 302, method="POST", body=b"pw").method == "GET"
    strict = RedirectRules.of(RedirectSettings(downgrade=False))
    assert refused("http://a.com/x", rules=strict) == "redirect from https to http"


def test_what_else_a_child_keeps() -> None:
    child = follow(
        "/x", callback="parse", errback="failed", depth=3, priority=7, meta={"a": 1},
        cb_kwargs={"b": 2}, attempts=3, crashes=1, key="abc",
    )  # fmt: skip
    assert (child.callback, child.errback, child.depth, child.priority) == ("parse", "failed", 3, 7)
    assert (child.meta["a"], child.cb_kwargs) == (1, {"b": 2})
    assert (child.attempts, child.crashes, child.key, child.dont_filter) == (0, 0, "", False)
    rules = RedirectRules(priority=2)
    answer = rules.follow(Request("j", BASE, priority=7), 302, "/x")
    assert isinstance(answer, Request)
    assert answer.priority == 9


def test_hops_are_counted_and_bounded() -> None:
    request, count = Request("j", BASE), 0
    while not isinstance(answer := RULES.follow(request, 302, f"/{count}"), Refused):
        request, count = answer, count + 1
        assert hops(request) == count
    assert (count, answer.reason) == (20, "too many redirects")
    assert len(ormsgpack.packb(request.meta[META_KEY])) < 200
    assert refused("/x", rules=RedirectRules(max_hops=0)) == "too many redirects"


def test_a_chain_does_not_change_the_meta_of_its_parent() -> None:
    parent = Request("j", BASE, meta={"a": 1})
    RULES.follow(parent, 302, "/x")
    assert parent.meta == {"a": 1}


def test_a_page_that_sends_back_to_itself_once_is_asked_again() -> None:
    child = follow(BASE)
    assert child.url == "https://a.com/dir/page?q=1"
    assert child.dont_filter
    again = RULES.follow(child, 302, BASE)
    assert isinstance(again, Refused)
    assert again.reason == "redirect loop"


def test_a_loop_of_two_ends() -> None:
    request, seen = Request("j", "https://a.com/a"), 0
    while not isinstance(
        answer := RULES.follow(request, 302, "/b" if request.url.endswith("a") else "/a"), Refused
    ):
        request, seen = answer, seen + 1
    assert (seen, answer.reason) == (3, "redirect loop")


def test_a_post_that_becomes_a_get_of_the_same_url_is_no_loop() -> None:
    child = follow(BASE, 303, method="POST", body=b"x")
    assert (child.method, child.dont_filter) == ("GET", False)


def test_a_meta_of_another_shape_does_no_harm() -> None:
    assert hops(follow("/x", meta={META_KEY: "junk"})) == 1
