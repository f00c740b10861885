"""Scrapy Cluster's messages: its limits relaxed, its meaning kept, what is wrong told in words."""

from __future__ import annotations

from typing import Any

import pytest

from skitter.access_errors import BadMessage
from skitter.compat.scrapy_cluster.crawls import name_of, submission_of
from skitter.compat.scrapy_cluster.messages import Action, Crawl, Domain, Stats
from skitter.compat.scrapy_cluster.reading import read_message

CRAWL = {"url": "http://example.com", "appid": "testapp", "crawlid": "abc123"}


def crawl(**fields: Any) -> Crawl:
    found = read_message(CRAWL | fields)
    assert isinstance(found, Crawl)
    return found


def submitted(**fields: Any) -> Any:
    return submission_of(crawl(**fields), job="j", name="j", project="default", now=1_000.0)


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        (CRAWL, Crawl),
        ({"action": "info", "appid": "a", "spiderid": "link", "uuid": "u"}, Action),
        ({"uuid": "u", "appid": "a"}, Stats),
        ({"uuid": "u", "appid": "a", "action": "blacklist-update", "domain": "E.com"}, Domain),
    ],
)
def test_the_fields_say_which_message_it_is(message: dict[str, Any], kind: type) -> None:
    assert type(read_message(message)) is kind


def test_defaults_are_scrapy_clusters() -> None:
    made = crawl()
    assert (made.spiderid, made.priority, made.maxdepth, made.expires) == ("link", 1, 0, 0)
    job = submitted()
    assert (job.max_depth, job.expires_s, job.max_per_host) == (0, None, None)
    assert job.args == {"offsite": "1", "depth": "0"}
    assert "pdf" in job.scope.deny_extensions


def test_given_fields_are_kept() -> None:
    job = submitted(
        maxdepth=3, priority=90, expires=1_600, domain_max_pages=20, deny_extensions=[],
        allowed_domains=["Example.COM"], allow_regex=["a"], deny_regex=["b"], attrs={"x": 1},
    )  # fmt: skip
    assert (job.max_depth, job.priority, job.expires_s, job.max_per_host) == (3, 90, 600, 20)
    assert job.scope.allowed_domains == ("example.com",)
    assert (job.scope.allow, job.scope.deny, job.scope.deny_extensions) == (("a",), ("b",), ())
    assert job.attrs == {"x": 1}


@pytest.mark.parametrize("url", ["example.com", "example.com/a?b=c", "http://example.com:8080"])
def test_an_address_without_a_scheme_is_one_of_http(url: str) -> None:
    assert crawl(url=url).url == (url if "://" in url else f"http://{url}")


def test_a_name_is_readable_and_never_anothers() -> None:
    assert name_of("link", "testapp", "abc123") == "link.testapp.abc123"
    odd = [("link", "a.b", "c"), ("link", "a", "b.c"), ("link", "a-b", "c"), ("link", "ü", "c")]
    names = {name_of(*parts) for parts in odd} | {name_of("link", "x" * 200, "y" * 200)}
    names |= {name_of("link", "testapp", "abc123", project="shop")}
    assert len(names) == 6
    assert all(len(name) < 120 for name in names)


@pytest.mark.parametrize(
    ("hits", "window", "scale", "delay_ms"),
    [(60, 60, 1.0, 1_000), (60, 60, 0.5, 2_000), (10, 60, 1.0, 6_000)],
)
def test_hits_in_a_window_are_a_pace(hits: int, window: int, scale: float, delay_ms: int) -> None:
    given = {"action": "domain-update", "uuid": "u", "appid": "a", "domain": "e.com"}
    found = read_message(given | {"hits": hits, "window": window, "scale": scale})
    assert isinstance(found, Domain)
    assert found.delay_ms == delay_ms


def test_what_is_wrong_is_told_without_the_value() -> None:
    with pytest.raises(BadMessage) as raised:
        read_message(CRAWL | {"cookie": ["secret"], "maxdepth": -1})
    assert "cookie" in raised.value.reason
    assert "maxdepth" in raised.value.reason
    assert "secret" not in raised.value.reason
