"""What the spiders make of a page, whoever fetched it."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from scrapy import Request
from scrapy.http import HtmlResponse, Response

from skitter.sinks import identify_by_key, key_of
from skitter.spiders.ecommerce import EcommerceSpider
from skitter.spiders.items import Product, Quote, class_of
from skitter.spiders.link import LinkSpider
from skitter.spiders.wandering import WanderingSpider

pytestmark = pytest.mark.unit

PRODUCT = """<html><head><title>Drill - Shop</title>
<link rel="canonical" href="/p/12">
<script type="application/ld+json">{"@type": "Product", "name": "Drill", "sku": "D-12",
 "offers": {"price": "129.90", "priceCurrency": "EUR"}}</script></head>
<body><a href="/cart/add">Buy</a> <a href="/c/tools">Tools</a> <a href="http://other.example/">x</a>
<a href="/img/big.png">big</a><img src="/img/1.png"></body></html>"""


def page(url: str, text: str = PRODUCT, **meta: Any) -> HtmlResponse:
    return HtmlResponse(url, body=text.encode(), request=Request(url, meta=meta))


def split(outputs: Any) -> tuple[list[Any], list[Request]]:
    outputs = list(outputs)
    requests = [one for one in outputs if isinstance(one, Request)]
    return [one for one in outputs if not isinstance(one, Request)], requests


def test_a_shop_without_a_recipe_is_read_by_its_structured_data() -> None:
    spider = EcommerceSpider(url="http://shop.example/")
    (item,), requests = split(spider.parse(page("http://shop.example/p/12?ref=a")))
    assert type(item) is Product
    assert item["price"] == Decimal("129.90")
    assert (item["url"], item["name"], item["sku"]) == ("http://shop.example/p/12", "Drill", "D-12")
    assert item["recipe"].startswith("any-shop ")
    followed = [request.url for request in requests]
    assert "http://shop.example/c/tools" in followed
    assert not any("cart" in url or url.endswith(".png") for url in followed)


def test_a_product_has_one_identity_by_all_its_addresses() -> None:
    spider = EcommerceSpider(url="http://shop.example/")
    keys = {
        key_of(split(spider.parse(page(f"http://shop.example/p/12{query}")))[0][0])
        for query in ("", "?ref=a", "?ref=b")
    }
    assert keys == {("http://shop.example/p/12", "D-12")}


def test_one_bogus_key_does_not_merge_two_products() -> None:
    def product(url: str, sku: str, *, canonical: bool) -> Product:
        found = Product(url=url, sku=sku)
        found.canonical = canonical
        return found

    home = "http://shop.example/"
    assert key_of(product(home, "1", canonical=True)) != key_of(product(home, "2", canonical=True))
    others = [product(f"{home}{n}", "N/A", canonical=True) for n in (1, 2)]
    assert key_of(others[0]) != key_of(others[1])
    same = [product(f"{home}{n}", "A-1", canonical=False) for n in (1, 2)]
    assert key_of(same[0]) == key_of(same[1])


def test_identities_differ_by_key_spider_and_kind() -> None:
    keys = [(("a", "b"), "s", "K"), (("ab", ""), "s", "K"), (("a", "b"), "t", "K")]
    keys.append((("a", "b"), "s", "L"))
    found = {identify_by_key(key, spider=spider, kind=kind) for key, spider, kind in keys}
    assert len(found) == 4
    assert key_of({"sku": "1"}) == ()
    assert key_of(Quote(url="http://e.example/q", ticker="BBB")) == ("e.example", "BBB")
    assert class_of("review").__name__ == "review"


def test_without_urls_a_spider_stays_on_each_page_s_host() -> None:
    _, requests = split(EcommerceSpider().parse(page("http://shop.example/p/12")))
    assert {request.url for request in requests} == {"http://shop.example/c/tools"}


def test_what_is_no_text_gives_nothing() -> None:
    assert list(EcommerceSpider().parse(Response("http://shop.example/a.bin", body=b"\0"))) == []


def test_a_page_on_demand() -> None:
    spider = LinkSpider(url="http://shop.example/p/12", attrs='{"team": "a"}')
    (item,), requests = split(spider.parse(page("http://shop.example/p/12", attrs={"id": 7})))
    assert item["title"] == "Drill - Shop"
    assert item["text"].startswith("Buy")
    assert item["attrs"] == {"team": "a", "id": 7}
    assert item["links"][-1] == "http://shop.example/img/big.png"
    assert "body" not in item
    assert requests == []


def test_depth_body_and_assets_when_asked() -> None:
    spider = LinkSpider(url="http://shop.example/", depth="1", body="1", assets="1")
    (item,), requests = split(spider.parse(page("http://shop.example/", attrs={"id": 7}), left=1))
    assert item["body"] == PRODUCT
    assert item["assets"] == ["http://shop.example/img/1.png"]
    assert {request.cb_kwargs["left"] for request in requests} == {0}
    assert {request.meta["attrs"]["id"] for request in requests} == {7}
    assert len(requests) == 5
    _, further = split(spider.parse(page("http://shop.example/c/tools"), left=0))
    assert [request.url for request in further] == ["http://shop.example/img/1.png"]


def test_a_walk_takes_one_link_and_the_same_again() -> None:
    spider = WanderingSpider(url="http://shop.example/", steps="3", seed="5")
    first = [split(spider.parse(page("http://shop.example/"), step=1)) for _ in range(2)]
    assert first[0][1][0].url == first[1][1][0].url
    assert len(first[0][1]) == 1
    assert first[0][1][0].cb_kwargs == {"home": "http://shop.example/", "step": 2}
    seeds = [WanderingSpider(url="http://shop.example/", seed=str(n)) for n in range(20)]
    ways = {split(one.parse(page("http://shop.example/")))[1][0].url for one in seeds}
    assert len(ways) > 1
    assert "http://other.example/" not in ways


def test_a_walk_ends_after_its_steps_and_turns_back_at_dead_ends() -> None:
    spider = WanderingSpider(url="http://shop.example/", steps="3")
    home = "http://shop.example/"
    _, back = split(spider.parse(page(f"{home}end", "<p>no links</p>"), home=home, step=2))
    assert back[0].url == home
    _, none = split(spider.parse(page(home), home=home, step=3))
    assert none == []
