"""`response.css` on lexbor finds what parsel finds on sound pages, and says what it cannot do."""

from __future__ import annotations

from typing import Any

import pytest
import scrapy.http

from skitter.errors import UnsupportedQuery
from skitter.lab.dice import Dice
from skitter.lab.render import SENTENCES, page

pytest.importorskip("selectolax", reason="the extra lexbor is not installed")
from skitter.engine.lexbor import LexborResponse

pytestmark = pytest.mark.unit

URL = "http://h0.lab/dir/page"
PAGE = (
    "<!doctype html><html><head><meta charset=utf-8><title>Title</title></head><body>"
    "<h1 id=top>Head &amp; more</h1><p class='x y'>one<b>two</b>three</p><p>four</p>"
    "<a href='/1' rel=next>first</a><a href=' /2 '>second</a><a>none</a>"
    "<ul><li>a</li><li><i>b</i></li></ul></body></html>"
)
QUERIES = (
    "title::text", "h1::text", "meta::attr(charset)", "p::text", "p.x b::text", "p ::text",
    "a::attr(href)", "a[rel=next]::attr(href)", "li::text, h1::text", "ul li::text", "::text",
    "*::text", "missing::text", "a:nth-of-type(2)::attr(href)", "#top::text", "b, i", "li",
    "a::attr( href )", "p > b::text", "h1 + p::text", "p:not(.x)::text",
    "p::text, b::text", "body *::text",
)  # fmt: skip


def both(body: str) -> tuple[Any, Any]:
    made = {"body": body.encode(), "encoding": "utf-8"}
    return scrapy.http.HtmlResponse(URL, **made), LexborResponse(URL, **made)


@pytest.mark.parametrize("query", QUERIES)
def test_finds_what_parsel_finds(query: str) -> None:
    theirs, ours = both(PAGE)
    assert ours.css(query).getall() == theirs.css(query).getall()
    assert ours.css(query).get("none") == theirs.css(query).get("none")


@pytest.mark.parametrize("charset", SENTENCES)
def test_finds_the_same_on_pages_of_the_lab(charset: str) -> None:
    anchors = [(f"/p/{number}?a=1&amp;b=2", f"page {number}") for number in range(30)]
    body = page(Dice(1), "A <page>", anchors=anchors, page_bytes=15_000, charset=charset)
    theirs, ours = (kind(URL, body=body) for kind in (scrapy.http.HtmlResponse, LexborResponse))
    for query in ("title::text", "a::attr(href)", "p::text", "h1::text", "ul ::text", "a"):
        assert ours.css(query).getall() == theirs.css(query).getall()


def test_results_have_the_methods_of_parsel() -> None:
    theirs, ours = both(PAGE)
    for one in (theirs, ours):
        assert one.css("p")[0].css("b::text").get() == "two"
        assert one.css("p").css("b::text").getall() == ["two"]
        assert one.css("a")[0].attrib == {"href": "/1", "rel": "next"}
        assert one.css("a").attrib["href"] == "/1"
        assert one.css("a::attr(href)").re(r"\d") == ["1", "2"]
        assert one.css("a::attr(href)").re_first(r"\d") == "1"
        assert one.css("li")[1:].css("i::text").extract_first() == "b"
        assert one.xpath("//b/text()").get() == "two"
        assert not one.css("missing")


def test_links_are_followed_as_with_parsel() -> None:
    theirs, ours = both(PAGE)
    for one in (theirs, ours):
        found = [
            [made.url for made in one.follow_all(one.css("a::attr(href)"))],
            [made.url for made in one.follow_all(css="a")],
            [one.follow(one.css("a")[0]).url, one.follow("/3").url],
        ]
        assert found == [["http://h0.lab/1", "http://h0.lab/2"]] * 2 + [
            ["http://h0.lab/1", "http://h0.lab/3"]
        ]


@pytest.mark.parametrize("query", ["p::text, a::attr(href)", "p ::attr(class)", "p[["])
def test_what_it_cannot_do_is_an_error(query: str) -> None:
    _, ours = both(PAGE)
    with pytest.raises(UnsupportedQuery, match="lexbor"):
        ours.css(query)


def test_there_is_no_xpath_below_the_page() -> None:
    _, ours = both(PAGE)
    for found in (ours.css("p"), ours.css("p")[0]):
        with pytest.raises(UnsupportedQuery, match="XPath"):
            found.xpath("./b")
