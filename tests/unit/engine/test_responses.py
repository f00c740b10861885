"""Our responses and selectors give what Scrapy's give."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, Any
from unittest.mock import Mock

import pytest
import scrapy.http
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree  # type: ignore[import-untyped]
from scrapy import Request

from skitter import frontier
from skitter.engine import responses
from skitter.engine.known import KnownLinks
from skitter.engine.responses import HtmlResponse, headers_of, kind_of

if TYPE_CHECKING:
    from collections.abc import Iterable

pytestmark = pytest.mark.unit

URLS = (
    "http://h0.lab/",
    "https://shop.example/a/b.html?x=1",
    "http://h0.lab:8080/deep/er/page",
    "http://H0.lab/x",
    "http://h0.lab",
)
LINKS = (
    "/", "/a", "/a/b/", "/a//b", "/a/./b", "/a/../b", "//other.example/x", "x", "x/y?z=1", "./x",
    "../x", "?q=1", "#top", "/a#top", "", " /a ", "/a b", "/ä", "/a?x=ä", "/a?", "/a;p", "/a;",
    "http://other.example/x", "https://Other.example/x", "http://other.example", "mailto:a@b.c",
    "http://other.example:80/x", "http://other.example/a/../b", "/a%20b", "/a%", "/a?b=c&d=e",
    "/.hidden", "/a.html", "/~user/", "http://u:p@other.example/x", "/a?x=/y", "/a=b", "/a:b",
    "http://other.example/a//b", "http://other.example./x", "http://other..example/x",
    "http://other.example:64999/x", "http://other.example:65535/x", "http://other.example:65536/x",
)  # fmt: skip
BODIES = (
    b"<html><body><a href='/a'>a</a></body></html>",
    b"<html><head><base href='http://base.example/dir/'></head><body>x</body></html>",
    b"<html><head><!-- <base href='http://base.example/dir/'> --></head><body>x</body></html>",
    "<html><head><meta charset=iso-8859-1></head><body>\xe4</body></html>".encode("latin-1"),
    "<html><head><base href='/other/'></head></html>".encode("utf-16"),
)


def both(url: str, body: bytes) -> tuple[scrapy.http.HtmlResponse, HtmlResponse]:
    return scrapy.http.HtmlResponse(url, body=body), HtmlResponse(url, body=body)


def followed(response: Any, link: Any, **options: Any) -> Any:
    """All that a request is, or the error in its place."""
    try:
        request = response.follow(link, **options)
    except (ValueError, TypeError) as error:
        return type(error), str(error)
    return fields_of(request)


def fields_of(request: Request) -> dict[str, Any]:
    fields = {name: getattr(request, name) for name in request.attributes}
    return fields | {"headers": request.headers.to_unicode_dict()}


@pytest.mark.parametrize("body", BODIES, ids=range(len(BODIES)))
@pytest.mark.parametrize("url", URLS)
def test_links_are_followed_to_the_same_requests(url: str, body: bytes) -> None:
    theirs, ours = both(url, body)
    for link in LINKS:
        assert followed(ours, link) == followed(theirs, link), link


@pytest.mark.parametrize(
    "options",
    [
        {"callback": print, "errback": repr},
        {"callback": 7},
        {"meta": {"a": 1}, "cb_kwargs": {"b": 2}, "priority": 3, "dont_filter": True},
        {"meta": {"verbatim_url": True}},
        {"method": "post", "body": "x", "headers": {"a": "b"}, "cookies": {"c": "d"}},
        {"flags": ["f"], "encoding": "latin-1"},
        {"priority": "high"},
        {"priority": True},
        {"encoding": "cp1252"},
    ],
)
def test_options_are_taken_over(options: dict[str, Any]) -> None:
    theirs, ours = both(URLS[0], BODIES[0])
    for link in ("/a", "/ä", "http://other.example/x?y=1", None, 7, theirs.css("a")[0]):
        assert followed(ours, link, **options) == followed(theirs, link, **options)


def test_what_is_given_is_copied() -> None:
    meta, kwargs = {"a": 1}, {"b": 2}
    request = HtmlResponse(URLS[0], body=BODIES[0]).follow("/x", meta=meta, cb_kwargs=kwargs)
    request.meta["c"] = request.cb_kwargs["d"] = 3
    assert (meta, kwargs) == ({"a": 1}, {"b": 2})


@settings(max_examples=300, deadline=None)
@given(
    link=st.text(st.sampled_from("abz09-._~/?=&%:#@;+,!'()*$ äÄ\\[]|<>\t"), max_size=30),
    prefix=st.sampled_from(
        ["", "/", "http://a.example/", "https://a-b.example:81/", "//a.example/"]
    ),
)
def test_any_link_is_followed_to_the_same_request(link: str, prefix: str) -> None:
    theirs, ours = both("http://h0.lab/dir/page?x=1", BODIES[0])
    assert followed(ours, prefix + link) == followed(theirs, prefix + link)


def followed_by(response: Any) -> Any:
    return response.follow("/x")


def test_a_plain_request_can_do_all_that_a_request_can() -> None:
    theirs, ours = (followed_by(response) for response in both(URLS[0], BODIES[0]))
    assert type(ours) is Request
    assert (
        ours.replace(method="POST", body="b").to_dict()
        == theirs.replace(method="POST", body="b").to_dict()
    )
    made: Any = ours
    made.headers["A"], made.meta["b"], made.cookies["c"] = "1", 2, "3"
    ours.flags.append("f")
    assert repr(ours) == repr(theirs)


QUERIES = ("a", "a::attr(href)", "p::text", "p.x *::text", "html", "missing", "::text")
PATHS = (
    "//a/@href", "//p[re:test(@class, 'x')]", "count(//a)", "//a[contains(@href, $part)]",
    "string(//p)", "//a/text()", "boolean(//a)", "//p[has-class('x')]",
)  # fmt: skip
PAGE = b"<html><body><a href='/1'>one</a><a href='/2'>two</a><p class='x y'>t<b>b</b></p></body>"
UNTIDY = (
    b"<html><head><link href=' /style '></head><body><a>none</a><a href=' /1 '>one</a><!-- /2 -->"
    b"<a href='?q=1#x'>two</a><a href='https://other.example/a//b'>three</a><b>four</b></body>"
)


def test_selectors_find_the_same() -> None:
    theirs, ours = both(URLS[0], PAGE)
    for query in QUERIES:
        assert ours.css(query).getall() == theirs.css(query).getall()
        assert ours.css(query).get("none") == theirs.css(query).get("none")
        assert repr(ours.css(query)) == repr(theirs.css(query))
    for path in PATHS:
        found, expected = (one.xpath(path, part="1") for one in (ours, theirs))
        assert found.getall() == expected.getall()
        assert [one.type for one in found] == [one.type for one in expected]


def test_selectors_nest_and_keep_their_methods() -> None:
    theirs, ours = both(URLS[0], PAGE)
    for one in (theirs, ours):
        paragraph = one.css("p")[0]
        assert paragraph.css("b::text").get() == "b"
        assert paragraph.attrib["class"] == "x y"
        assert one.css("a::attr(href)").re(r"\d") == ["1", "2"]
        assert one.css("a")[1].xpath("./text()").extract_first() == "two"
        paragraph.register_namespace("n", "http://n.example/")
        assert paragraph.xpath("./n:x").getall() == []
        with pytest.raises(ValueError, match="XPath error"):
            one.xpath("//[")
    assert isinstance(ours.css("a"), type(theirs.css("a")))


MARKUP = (
    b"<p>plain</p>", b"  \n<p>spaces around</p>\r\n ", "<p>\xe4\u20ac</p>".encode(), b"", b" ",
    b"text", b"<p>nul\0inside</p>", b"\0<p>x</p>\0", "\xa0<p>no-break</p>\xa0".encode(),
    b"<p>bad \xff</p>", b"\xef\xbb\xbf<p>mark</p>", b"\x1c<p>x</p>\x1f", b"<!-- only -->", b"<>",
    b"<p>unclosed <b>b<p>",
    b"<?xml version='1.0' encoding='latin-1'?><p>\xc3\xa4</p>", "<p>\xe4</p>".encode("utf-16"),
    b"<meta charset=iso-8859-1><p>\xe4</p>", b"<base href='/deep/'><a href='x'>x</a>",
    b"<p>" + b"x" * 5000 + b"<base href='/late/'>",
    "\xe4".encode() * 3000 + b"<base href='/late/'>",
    b"\x1b$B" + b"8@" * 3000 + b"\x1b(B<base href='/late/'>",
)  # fmt: skip
TYPES = (b"text/html", b"text/html; charset=utf-8", b"text/html; charset=latin-1",
         b"text/html; charset=iso-2022-jp", b"text/html; charset=nonsense")  # fmt: skip


@pytest.mark.parametrize("content_type", TYPES)
def test_pages_become_the_same_trees(content_type: bytes) -> None:
    for body in MARKUP:
        theirs, ours = both("http://h0.lab/dir/page", body)
        for one in (theirs, ours):
            one.headers["Content-Type"] = content_type
        assert tree(ours) == tree(theirs), body
        assert (ours.encoding, ours.text) == (theirs.encoding, theirs.text)
        assert ours.urljoin("x") == theirs.urljoin("x"), body


def tree(response: Any) -> Any:
    """The whole tree as text and where it says it came from, or the error in its place."""
    try:
        root = response.selector.root
    except (ValueError, SyntaxError) as error:
        return type(error), str(error)
    return etree.tostring(root), root.base, response.selector.response is response


def test_many_links_are_followed_to_the_same_requests() -> None:
    for body in BODIES:
        theirs, ours = both(URLS[1], body)
        good = [link for link in LINKS if isinstance(followed(theirs, link), dict)]
        for links in (good, tuple(good), []):
            made, expected = ([*one.follow_all(links, print)] for one in (ours, theirs))
            assert [fields_of(one) for one in made] == [fields_of(one) for one in expected]
        with pytest.raises(ValueError, match="exactly one"):
            ours.follow_all()


@pytest.mark.parametrize("callback", [None, print])
@pytest.mark.parametrize(
    "given",
    [
        {"css": "a"},
        {"css": "a", "meta": {"x": 1}},
        {"css": "*"},
        {"css": "a::attr(href)"},
        {"css": "a::text"},
        {"css": "b"},
        {"xpath": "//a"},
        {"xpath": "//a/@href"},
        {"xpath": "//comment()"},
    ],
    ids=str,
)
def test_selected_links_are_followed_to_the_same_requests(
    given: dict[str, Any], callback: Any
) -> None:
    for body in (PAGE, UNTIDY):
        theirs, ours = both(URLS[0], body)
        made, expected = ([*one.follow_all(callback=callback, **given)] for one in (ours, theirs))
        assert [fields_of(one) for one in made] == [fields_of(one) for one in expected]


@pytest.mark.parametrize("given", [{"css": ""}, {"css": "a", "xpath": "//a"}, {"urls": 1}, {}])
def test_what_cannot_be_followed_is_refused_in_the_same_words(given: dict[str, Any]) -> None:
    errors = []
    for one in both(URLS[0], PAGE):
        with pytest.raises((ValueError, TypeError)) as refused:
            one.follow_all(**given)
        errors.append((refused.type, str(refused.value)))
    assert errors[0] == errors[1]


@pytest.mark.parametrize("times", [1, 2])
def test_known_links_are_passed_over_up_to_the_next_that_is_not(times: int) -> None:
    known = known_links(f"http://h0.lab/{n}" for n in (0, 1, 3, 4))
    for _ in range(times):
        _, ours = both("http://h0.lab/", PAGE)
        giving = ours.follow_all([*(f"/{n}" for n in range(6)), [1]])
        following = ours.following
        assert following
        assert following.giving is giving
        assert next(giving).url == "http://h0.lab/0"
        assert following.pass_over(known, "other") == 0
        assert following.pass_over(known, "job") == 1
        assert next(giving).url == "http://h0.lab/2"
        assert following.pass_over(known, "job") == 2
        assert next(giving).url == "http://h0.lab/5"
        assert following.pass_over(known, "job") == 0
        with pytest.raises(TypeError):  # as follow() says of what is no link
            next(giving)


def test_what_was_forgotten_is_followed_again() -> None:
    known = known_links(["http://h0.lab/1"])
    for servers_met, passed in ((0, 1), (1, 0), (1, 0)):
        known.harvest(servers_met)
        _, ours = both("http://h0.lab/", PAGE)
        ours.follow_all(["/1"])
        assert ours.following
        assert ours.following.pass_over(known, "job") == passed


def test_all_may_be_known() -> None:
    _, ours = both("http://h0.lab/", PAGE)
    giving = ours.follow_all(["/1"] * 3)
    following = ours.following
    assert following
    assert following.pass_over(known_links(["http://h0.lab/1"]), "job") == 3
    assert [*giving] == []
    assert ours.following is None


def test_joined_links_are_forgotten_when_they_have_become_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(responses, "MOST_LINKS_KEPT", 20)
    for number in range(50):
        _, ours = both(f"http://many{number}.lab/", PAGE)
        assert len([*ours.follow_all(["/a", "/b", "/c"])]) == 3
    del ours
    gc.collect()
    all_joined = [one for one in gc.get_objects() if isinstance(one, responses.Joined)]
    kept = [link for joined in all_joined for link in joined.values() if "//many" in link]
    assert 0 < len(kept) <= 20


def known_links(urls: Iterable[str]) -> KnownLinks:
    known, page = KnownLinks(), Mock(over=True, accepted=True)
    page.settlement.children = page.children = [frontier.Request("job", url) for url in urls]
    known.settled(page)
    known.harvest(0)
    return known


def test_a_response_can_be_copied_and_replaced() -> None:
    _, ours = both(URLS[0], PAGE)
    assert ours.copy().css("a").get() == ours.css("a").get()
    assert isinstance(ours.replace(body=b"<p>new</p>"), HtmlResponse)
    assert ours.replace(body=b"<p>new</p>").css("p::text").get() == "new"


def test_headers_are_kept_as_they_came() -> None:
    headers = headers_of([(b"content-TYPE", b"text/html"), (b"Set-Cookie", b"a"),
                          (b"set-cookie", b"b")])  # fmt: skip
    assert headers[b"Content-Type"] == b"text/html"
    assert headers.getlist("Set-Cookie") == [b"a", b"b"]


@pytest.mark.parametrize(
    ("content_type", "body", "kind"),
    [
        (b"text/html; charset=utf-8", b"", "HtmlResponse"),
        (b"TEXT/HTML", b"", "HtmlResponse"),
        (b"application/json", b"", "JsonResponse"),
        (b"application/rss+xml", b"", "XmlResponse"),
        (b"text/plain", b"", "TextResponse"),
        (b"image/png", b"\x89PNG\0\1", "Response"),
        (b"application/octet-stream", b"<html></html>", "HtmlResponse"),
        (b"", b"plain", "TextResponse"),
    ],
)
def test_the_class_is_the_one_that_scrapy_chooses(
    content_type: bytes, body: bytes, kind: str
) -> None:
    for _ in range(2):
        headers = headers_of([(b"Content-Type", content_type)] if content_type else [])
        assert kind_of(headers, "http://h0.lab/x", body).__name__ == kind
