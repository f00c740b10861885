"""Recipes at work: a page in, items and links out."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

import pytest
from scrapy.http import HtmlResponse

from skitter.extract.document import Document
from skitter.extract.recipe import Extraction, Link, Recipe, parse_recipe

SHOP = """
name: hardware
domains: shop.example
locale: fr-TN
timezone: Africa/Tunis
start: https://shop.example/
pages:
  product:
    match: /p/*
    structured: product
    fields:
      name: {css: h1, required: true}
      price: {css: .price, clean: price, required: true}
      old_price: {css: .old, clean: price}
      stock: {css: .stock, clean: stock}
      sku: [.ref, {url: "/p/(\\\\d+)"}]
      weight: {css: .specs, regex: "Poids : (.*) kg", clean: number}
      updated: {xpath: "//time/@datetime", clean: date}
      images: {css: "img::attr(src)", clean: url, all: true}
      tags: {css: .tag, all: true, join: ", "}
      source: {value: demo}
  listing:
    match: [/c/*, /]
    item: product
    each: .card
    fields:
      name: h2
      price: {css: .price, clean: price}
      url: {css: "a::attr(href)", clean: url}
    follow:
      - {css: .card a, page: product}
      - {css: nav, match: /c/*, deny: /c/old*, priority: -1}
    next: a.next
"""
PRODUCT = """
<base href="https://shop.example/base/"><h1>Perceuse
 à <b>percussion</b></h1><p class=price>1\u202f299,000 DT</p>
<p class=old>1 499,000 DT</p><p class=stock>Plus que 2 en stock</p>
<div class=specs>Poids : 2,350 kg<br>Garantie 1 an</div><time datetime="03/05/2024 10:00"></time>
<img src=a.jpg><img src=/b.jpg><img src="javascript:x"><i class=tag>A</i><i class=tag>B</i>
"""


def recipe(text: str = SHOP) -> Recipe:
    return parse_recipe(text)


def visit(html: str, path: str = "/p/12", text: str = SHOP) -> Extraction:
    return recipe(text).extract(Document(f"https://shop.example{path}", html))


def test_fields_with_their_raw_texts_and_places() -> None:
    found = visit(PRODUCT)
    (item,) = found.items
    assert (found.page, item.kind, item.missing) == ("product", "product", [])
    assert item.data == {
        "name": "Perceuse à percussion",
        "price": Decimal("1299.000"),
        "currency": "TND",
        "currency_raw": "DT",
        "old_price": Decimal("1499.000"),
        "old_price_currency": "TND",
        "old_price_currency_raw": "DT",
        "stock": "in_stock",
        "stock_quantity": 2,
        "sku": "12",
        "weight": Decimal("2.350"),
        "updated": datetime(2024, 5, 3, 9, tzinfo=UTC),
        "images": ["https://shop.example/base/a.jpg", "https://shop.example/b.jpg"],
        "tags": "A, B",
        "source": "demo",
    }
    assert item.raw["price"] == "1\u202f299,000 DT"
    assert item.raw["weight"] == "2,350"
    origins = {name: one.origin for name, one in item.fields.items()}
    assert origins["price"] == "css .price"
    assert origins["sku"] == "url"
    assert origins["weight"] == "css .specs by regex"
    assert origins["source"] == "recipe"


def test_a_scrapy_response_will_do() -> None:
    url = "https://shop.example/p/12"
    response = HtmlResponse(url, body=PRODUCT.encode(), encoding="utf-8")
    assert recipe().extract(response).items[0].data == visit(PRODUCT).items[0].data


def test_what_is_required_and_not_there_is_told() -> None:
    (item,) = visit("<p class=price>sur devis</p>").items
    assert item.missing == ["name", "price"]
    assert item.problems == {"name": "nothing was found", "price": "it holds no number"}


def test_digits_that_are_set_apart_are_not_joined() -> None:
    (item,) = visit("<h1>x</h1><p class=price>1 299<sup>500</sup> DT</p>").items
    assert item.problems["price"] == "it holds several numbers: 1 299 and 500"
    (item,) = visit("<h1>x</h1><p class=price><b>12</b><b>99</b> DT</p>").items
    assert item.problems["price"] == "it holds several numbers: 12 and 99"


JSON_LD = """<script type="application/ld+json">{"@type": "Product", "name": "From JSON-LD",
 "offers": {"price": "5.500", "priceCurrency": "TND"}}</script>"""


def test_structured_data_comes_first_and_the_recipe_fills_in() -> None:
    (item,) = visit(JSON_LD + PRODUCT).items
    assert (item.data["name"], item.data["price"]) == ("From JSON-LD", Decimal("5.500"))
    assert item.fields["price"].origin == "json-ld offers"
    assert item.data["stock"] == "in_stock"


def test_a_field_may_override_structured_data() -> None:
    text = SHOP.replace("clean: price, required: true", "clean: price, override: true")
    (item,) = visit(JSON_LD + PRODUCT, text=text).items
    assert item.data["price"] == Decimal("1299.000")
    assert item.raw["currency"] == "1\u202f299,000 DT"
    (item,) = visit(JSON_LD + "<p class=price>sur devis</p>", text=text).items
    assert item.data["price"] == Decimal("5.500")


def test_one_price_never_gets_the_others_currency() -> None:
    text = SHOP.replace("locale: fr-TN\n", "decimal: ','\n")
    html = (
        '<script type="application/ld+json">{"@type": "Product", "offers": {"price": "5"}}</script>'
    )
    (item,) = visit(f"{html}<p class=price>7,000 €</p>", text=text).items
    assert item.data["price"] == Decimal(5)
    assert "currency" not in item.data
    (item,) = visit(f"{html}<p class=price>5,000 €</p>", text=text).items
    assert item.data["currency"] == "EUR"


LISTING = """
<nav><a href="/c/drills">a</a><a href="/c/old-stock">b</a><a href="/about">c</a></nav>
<div class=card><a href="/p/1"><h2>One</h2></a><p class=price>12,500 DT</p></div>
<div class=card><a href="/p/2#x"><h2>Two</h2></a><p class=price>sur devis</p></div>
<div class=card><a href="/p/1"><h2>One again</h2></a></div>
<div class=card><a href="https://elsewhere.example/p/3"><h2>Far</h2></a></div>
<a class=next href="?page=2">next</a><a class=next href="?page=3">last</a>
"""


def test_a_listing_gives_items_and_links() -> None:
    found = visit(LISTING, "/c/tools")
    assert [item.data["name"] for item in found.items] == ["One", "Two", "One again", "Far"]
    assert [item.data.get("price") for item in found.items] == [Decimal("12.500"), None, None, None]
    assert found.links == [
        Link("https://shop.example/p/1", "follow", "product"),
        Link("https://shop.example/p/2", "follow", "product"),
        Link("https://shop.example/c/drills", "follow", "", -1),
        Link("https://shop.example/c/tools?page=2", "next", "listing"),
    ]


@pytest.mark.parametrize(
    ("path", "page"),
    [
        ("/p/12", "product"),
        ("/p/12?ref=x#top", "product"),
        ("/c/tools?page=2", "listing"),
        ("/", "listing"),
        ("", "listing"),
        ("/about", ""),
    ],
)
def test_pages_are_known_by_their_address(path: str, page: str) -> None:
    document = Document(f"https://shop.example{path}", "")
    assert recipe().page_of(document) == page
    assert recipe().fits(document.url) == bool(page)


def test_other_domains_are_not_meant() -> None:
    assert not recipe().fits("https://elsewhere.example/p/1")
    assert not recipe().fits("https://notshop.example/p/1")
    assert recipe().fits("https://www.shop.example/p/1")
    found = recipe().extract(Document("https://elsewhere.example/p/1", PRODUCT))
    assert (found.page, found.items) == ("", [])
    assert found.problems == ["no page of the recipe hardware fits https://elsewhere.example/p/1"]


def test_pages_are_known_by_what_they_have() -> None:
    text = "{name: x, pages: {a: {has: .a, fields: {t: h1}}, b: {fields: {t: h2}}}}"
    assert visit("<h1>1</h1><i class=a>", text=text).page == "a"
    assert visit("<h2>2</h2>", text=text).items[0].data == {"t": "2"}


def test_a_page_may_be_told() -> None:
    document = Document("https://shop.example/about", LISTING)
    assert recipe().extract(document, rule="listing").page == "listing"


@pytest.mark.parametrize(
    ("path", "html", "expected"),
    [
        ("/c?q=a%20b", "<i class=card>", "https://shop.example/c?q=a+b&page=2"),
        ("/c?page=2", "<i class=card>", "https://shop.example/c?page=3"),
        ("/c?page=2", "", None),
        ("/c?page=9", "<i class=card>", None),
        ("/c?page=x", "<i class=card>", None),
    ],
)
def test_pages_by_number(path: str, html: str, expected: str | None) -> None:
    text = "{name: x, pages: {l: {next: {param: page, while: .card, last: 9}}}}"
    links = visit(html, path, text).links
    assert [link.url for link in links] == ([expected] if expected else [])


API = """
name: api
locale: fr-TN
pages:
  search:
    each: {json: "results"}
    fields:
      name: {json: title}
      price: {json: price, clean: price}
      stock: {json: "availability.status", clean: stock}
      url: {json: path, clean: url}
    follow: {json: "results[].path"}
    next: {json: links.next}
"""


def test_a_page_of_json() -> None:
    body = """{"results": [
        {"title": "A", "price": 1.299, "availability": {"status": "InStock"}, "path": "/p/1"},
        {"title": "B", "price": "1,299", "path": "/p/2"}], "links": {"next": "/s?page=2"}}"""
    found = visit(body, "/s", API)
    first, second = (item.data for item in found.items)
    assert first["price"] == Decimal("1.299")  # a number, whatever the country writes
    assert second["price"] == Decimal("1.299")  # a text, read as the country writes
    assert (first["stock"], first["url"]) == ("in_stock", "https://shop.example/p/1")
    assert [link.url for link in found.links] == [
        "https://shop.example/p/1",
        "https://shop.example/p/2",
        "https://shop.example/s?page=2",
    ]


def test_json_in_a_script() -> None:
    text = """
name: state
pages:
  p:
    fields:
      price: {json: product.price, script: __STATE__, clean: price}
      tags: {json: product.tags, all: true}
      ok: {json: product.ok}
"""
    html = """<script>var other = {product: {price: 1}}; window.__STATE__ =
      {product: {price: 12.50, tags: ["a", "b"], ok: true}}</script>"""
    (item,) = visit(html, text=text).items
    assert item.data == {"price": Decimal("12.50"), "tags": ["a", "b"], "ok": "true"}
    assert item.fields["price"].origin == "json __STATE__: product.price"


def test_relative_dates_need_to_know_the_time() -> None:
    text = "{name: x, timezone: UTC, pages: {p: {fields: {at: {css: b, clean: date}}}}}"
    document = Document("https://x.example/", "<b>2 hours ago</b>")
    now = datetime(2024, 6, 1, 12, tzinfo=UTC)
    (item,) = recipe(text).extract(document, now=now).items
    assert item.data["at"] == datetime(2024, 6, 1, 10, tzinfo=UTC)
    (item,) = recipe(text).extract(document).items
    assert "at" in item.problems


def test_products_of_a_listing_from_structured_data() -> None:
    text = "{name: x, pages: {l: {item: product, structured: products}}}"
    html = """<script type="application/ld+json">{"@type": "ItemList", "itemListElement": [
      {"@type": "ListItem", "item": {"@type": "Product", "name": "A", "offers": {"price": "1"}}},
      {"@type": "ListItem", "item": {"@type": "Product", "name": "B"}}]}</script>"""
    found = visit(html, text=text)
    assert [item.data["name"] for item in found.items] == ["A", "B"]
