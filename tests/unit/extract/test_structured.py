"""JSON-LD, microdata, OpenGraph and JSON in scripts: what pages tell machines."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest

from skitter.extract.fields import Fields
from skitter.extract.locale import locale_of
from skitter.extract.structured import (
    all_products,
    all_quotes,
    main_product,
    main_quote,
    read_structured,
)
from skitter.extract.structured.lenient_json import load_object

URL = "https://shop.example/p/12"
PRODUCT: dict[str, Any] = {
    "@context": "https://schema.org",
    "@type": "Product",
    "name": "Cordless  drill",
    "sku": "D-12",
    "gtin13": "4006381333931",
    "brand": {"@type": "Brand", "name": "Bosch"},
    "category": ["Tools", "Drills"],
    "image": ["/a.jpg", {"@type": "ImageObject", "url": "https://cdn.example/b.jpg"}],
    "aggregateRating": {"ratingValue": "4.5", "bestRating": 5, "reviewCount": 31},
    "offers": {
        "@type": "Offer",
        "price": 129.90,
        "priceCurrency": "EUR",
        "availability": "https://schema.org/InStock",
    },
}
EXPECTED = {
    "name": "Cordless drill",
    "sku": "D-12",
    "gtin": "4006381333931",
    "brand": "Bosch",
    "category": "Tools > Drills",
    "images": ["https://shop.example/a.jpg", "https://cdn.example/b.jpg"],
    "rating": Decimal("4.5"),
    "rating_best": 5,
    "rating_count": 31,
    "price": Decimal("129.9"),
    "currency": "EUR",
    "currency_raw": "EUR",
    "stock": "in_stock",
}


def page(*blocks: Any, body: str = "", head: str = "") -> str:
    texts = [block if isinstance(block, str) else json.dumps(block) for block in blocks]
    scripts = "".join(f'<script type="application/ld+json">{text}</script>' for text in texts)
    return f"<html><head>{head}{scripts}</head><body>{body}</body></html>"


def data(fields: Fields) -> dict[str, Any]:
    return {name: one.value for name, one in fields.items() if one.value is not None}


def product(html: str, locale: str = "") -> dict[str, Any]:
    declared = [locale_of(locale)] if locale else []
    return data(main_product(read_structured(html, URL), *declared))


def test_a_product_in_json_ld() -> None:
    fields = main_product(read_structured(page(PRODUCT), URL))
    assert data(fields) == EXPECTED
    assert fields["price"].raw == "129.9"
    assert fields["price"].origin == "json-ld offers"


@pytest.mark.parametrize(
    "wrapped",
    [
        {"@context": "https://schema.org", "@graph": [{"@type": "WebSite"}, PRODUCT]},
        [PRODUCT],
        {"@type": "WebPage", "mainEntity": PRODUCT},
        {**PRODUCT, "@type": ["Product", "Thing"]},
        {**PRODUCT, "@type": "http://schema.org/Product"},
        {**PRODUCT, "isRelatedTo": [{"@type": "Product", "name": "Another"}]},
    ],
    ids=["graph", "list", "mainEntity", "types", "address", "related"],
)
def test_a_product_wherever_it_stands(wrapped: Any) -> None:
    assert product(page(wrapped)) == EXPECTED


def test_references_in_a_graph_are_followed() -> None:
    graph = {
        "@graph": [
            {"@type": "Product", "name": "Drill", "offers": {"@id": "#o"}, "brand": {"@id": "#b"}},
            {"@type": "Offer", "@id": "#o", "price": "12.50", "priceCurrency": "EUR"},
            {"@type": "Brand", "@id": "#b", "name": "Bosch"},
        ]
    }
    found = product(page(graph))
    assert (found["price"], found["brand"]) == (Decimal("12.50"), "Bosch")


@pytest.mark.parametrize(
    "broken",
    [
        '{"@type": "Product", "name": "Drill", "offers": {"price": "12.50",},}',
        '<!-- {"@type": "Product", "name": "Drill", "offers": {"price": "12.50"}} -->',
        '//<![CDATA[\n{"@type": "Product", "name": "Drill", "offers": {"price": "12.50"}}\n//]]>',
        '{"@type": "Product", "name": "Dr\till", "offers": {"price": "12.50"}}',
        "{'@type': 'Product', name: 'Drill', /* c */ offers: {price: '12.50'}}",
        '{"@type": "Product", "name": "Drill", "offers": {"price": "12.50"}};',
        '{"@type": "Product", "name": "Drill", "offers": {"price": "12.50"}}'.replace(
            '"', "&quot;"
        ),
    ],
    ids=["commas", "comment", "cdata", "control", "javascript", "semicolon", "entities"],
)
def test_json_ld_is_repaired_where_that_is_certain(broken: str) -> None:
    found = product(page(broken))
    assert found["name"].replace(" ", "") == "Drill"
    assert found["price"] == Decimal("12.50")


def test_a_broken_block_is_told_and_does_not_spoil_the_others() -> None:
    found = read_structured(page('{"@type": "Product", "name": ', PRODUCT), URL)
    assert data(main_product(found)) == EXPECTED
    assert len(found.problems) == 1
    assert found.problems[0].startswith("JSON-LD block 1: it is no JSON")


@pytest.mark.parametrize(
    "bomb",
    ["[" * 200_000, '{"a":' * 100_000, "9" * 10_000, "x" * (5 << 20)],
    ids=["lists", "objects", "digits", "long"],
)
def test_hostile_json_is_refused(bomb: str) -> None:
    found = read_structured(page(bomb, PRODUCT), URL)
    assert data(main_product(found)) == EXPECTED
    assert found.problems


@pytest.mark.parametrize(
    ("offers", "expected"),
    [
        ({"price": "1 299,000 DT"}, {"price": Decimal("1299.000"), "currency": "TND"}),
        ({"price": "12.500", "priceCurrency": "TND"}, {"price": Decimal("12.500")}),
        ({"price": "12,500", "priceCurrency": "TND"}, {}),
        ({"lowPrice": "10", "highPrice": "10"}, {"price": Decimal(10)}),
        ({"lowPrice": 10, "highPrice": 20}, {"low_price": Decimal(10), "high_price": Decimal(20)}),
        ([{"price": "10"}, {"price": "12"}], {"low_price": Decimal(10), "high_price": Decimal(12)}),
        ([{"price": "10"}, {"price": "12", "url": URL}], {"price": Decimal(12)}),
        ([{"price": "10", "priceCurrency": "EUR"}, {"price": "10", "priceCurrency": "USD"}], {}),
        ({"priceSpecification": {"price": "7.5", "priceCurrency": "GBP"}}, {"currency": "GBP"}),
        ({"@type": "AggregateOffer", "offers": [{"price": "5"}]}, {"price": Decimal(5)}),
    ],
)
def test_offers(offers: Any, expected: dict[str, Any]) -> None:
    found = product(page({"@type": "Product", "name": "X", "offers": offers}))
    prices = {"price", "low_price", "high_price"}
    assert {name: found.get(name) for name in expected} == expected
    assert prices & set(found) <= prices & set(expected) or "currency" in expected


def test_a_price_that_is_refused_says_why() -> None:
    offers = [{"price": "10"}, {"price": "20"}]
    fields = main_product(read_structured(page({"@type": "Product", "offers": offers}), URL))
    assert fields["price"].value is None
    assert fields["price"].reason == "it has offers from 10 to 20"
    assert fields["price"].raw == "10 20"


def test_a_declared_currency_counts_where_the_page_names_none() -> None:
    html = page({"@type": "Product", "offers": {"price": "12,500"}})
    assert product(html, "fr-TN")["price"] == Decimal("12.500")
    assert product(html, "fr-TN")["currency"] == "TND"


def test_of_several_products_the_one_with_the_pages_address_counts() -> None:
    nodes = [{"@type": "Product", "name": name, "url": f"/p/{name}"} for name in ("11", "12", "13")]
    assert product(page(nodes))["name"] == "12"
    assert product(page(nodes[:1] + nodes[2:])) == {}
    assert len(all_products(read_structured(page(nodes), URL))) == 3


MICRODATA = """
<div itemscope itemtype="https://schema.org/Product">
  <h1 itemprop="name">Cordless <b>drill</b></h1>
  <img itemprop="image" src="/a.jpg"><link itemprop="url" href="/p/12">
  <meta itemprop="sku" content="D-12">
  <span itemprop="brand" itemscope itemtype="https://schema.org/Brand">
    <span itemprop="name">Bosch</span></span>
  <div itemprop="offers" itemscope itemtype="https://schema.org/Offer">
    <span itemprop="price" content="129.90">129,90 €</span>
    <meta itemprop="priceCurrency" content="EUR">
    <link itemprop="availability" href="https://schema.org/OutOfStock">
  </div>
</div>
"""


def test_a_product_in_microdata() -> None:
    assert product(MICRODATA) == {
        "name": "Cordless drill",
        "sku": "D-12",
        "brand": "Bosch",
        "url": "https://shop.example/p/12",
        "images": ["https://shop.example/a.jpg"],
        "price": Decimal("129.90"),
        "currency": "EUR",
        "currency_raw": "EUR",
        "stock": "out_of_stock",
    }


def test_microdata_values_by_element() -> None:
    html = """<div itemscope itemref="far" itemtype="https://schema.org/Event">
      <time itemprop="startDate" datetime="2024-05-03">May 3</time><time itemprop="end">2024</time>
      <data itemprop="n" value="5">five</data><a itemprop="link" href="x">y</a>
      <p itemprop="a b">both</p><p itemprop="many">1</p><p itemprop="many">2</p>
      <p itemprop="clean">seen<script>hidden()</script></p>
      </div><div id="far"><p itemprop="far">away</p></div>"""
    (event,) = read_structured(html, URL).microdata
    assert dict(event) == {
        "@type": ["https://schema.org/Event"],
        "startDate": "2024-05-03",
        "end": "2024",
        "n": "5",
        "link": "https://shop.example/p/x",
        "a": "both",
        "b": "both",
        "many": ["1", "2"],
        "clean": "seen",
        "far": "away",
    }


def test_microdata_that_refers_to_itself_ends() -> None:
    nodes = "".join(
        f'<div itemscope itemprop="p" id="n{n}" itemref="n{n + 1} n{n + 1} n{n + 2}"></div>'
        for n in range(60)
    )
    html = f'<div itemscope itemtype="https://schema.org/Thing" itemref="n0"></div>{nodes}'
    assert read_structured(html, URL).microdata


def test_open_graph_fills_what_is_open() -> None:
    head = """<meta property="og:type" content="product"><meta property="og:title" content="Drill">
      <meta property="og:image" content="/a.jpg"><meta property="og:image" content="/b.jpg">
      <meta property="product:price:amount" content="12.50">
      <meta property="product:price:currency" content="EUR">
      <meta property="product:availability" content="in stock">"""
    assert product(page(head=head)) == {
        "name": "Drill",
        "images": ["https://shop.example/a.jpg", "https://shop.example/b.jpg"],
        "price": Decimal("12.50"),
        "currency": "EUR",
        "currency_raw": "EUR",
        "stock": "in_stock",
    }
    both = product(page({"@type": "Product", "offers": {"price": "13"}}, head=head))
    assert (both["name"], both["price"]) == ("Drill", Decimal(13))
    assert "currency" not in both  # the other source's price was another one


def test_open_graph_of_another_kind_is_no_product() -> None:
    head = '<meta property="og:type" content="article"><meta property="og:title" content="News">'
    assert product(page(head=head)) == {}


def test_breadcrumbs_tell_the_category() -> None:
    crumbs = {
        "@type": "BreadcrumbList",
        "itemListElement": [
            {"@type": "ListItem", "position": n, "name": name}
            for n, name in enumerate(["Home", "Tools", "Drill"], start=1)
        ],
    }
    found = product(page(crumbs, {"@type": "Product", "name": "Drill"}))
    assert found["category"] == "Home > Tools"


def test_json_in_scripts() -> None:
    html = r"""
      <script id="__NEXT_DATA__" type="application/json">{"price": 1.10}</script>
      <script>window.__STATE__ = {a: undefined, b: [1, 2,], 'c': 'x'}; const d = {e: 1}</script>
      <script>self["quoted"] = JSON.parse("{\"k\": 1.50}"); if (x == {}) {}</script>
      <script>var broken = {a: </script><script src="x.js">var no = {a: 1}</script>
    """
    found = read_structured(html, URL)
    assert [(one.name, one.value) for one in found.embedded] == [
        ("__NEXT_DATA__", {"price": Decimal("1.10")}),
        ("__STATE__", {"a": "undefined", "b": [1, 2], "c": "x"}),
        ("d", {"e": 1}),
        ("quoted", {"k": Decimal("1.50")}),
    ]
    assert len(found.problems) == 1
    assert found.problems[0].startswith("script broken:")


def test_many_scripts_are_bounded() -> None:
    html = f"<script>{'var x = {a: 1};' * 10_000}</script>"
    assert len(read_structured(html, URL).embedded) == 50


QUOTE = """
<div itemscope itemtype="http://schema.org/Intangible/FinancialQuote">
  <meta itemprop="name" content="Acme"><meta itemprop="tickerSymbol" content="ACME">
  <meta itemprop="exchange" content="XLAB"><meta itemprop="price" content="1,234.50">
  <meta itemprop="priceChange" content="-12.25"><meta itemprop="priceChangePercent" content="-0.98">
  <meta itemprop="quoteTime" content="2024-05-03T20:00:00Z">
  <meta itemprop="priceCurrency" content="USD">
</div>
"""


def test_a_quote_in_microdata() -> None:
    fields = main_quote(read_structured(QUOTE, URL))
    found = data(fields)
    assert found.pop("time").isoformat() == "2024-05-03T20:00:00+00:00"
    assert found == {
        "ticker": "ACME",
        "name": "Acme",
        "exchange": "XLAB",
        "price": Decimal("1234.50"),
        "change": Decimal("-12.25"),
        "percent": Decimal("-0.98"),
        "currency": "USD",
        "currency_raw": "USD",
    }
    assert len(all_quotes(read_structured(QUOTE * 3, URL))) == 3


def test_an_empty_page_has_nothing() -> None:
    found = read_structured("", URL)
    assert (found.json_ld, found.microdata, found.open_graph, found.embedded) == ([], [], {}, [])
    assert main_product(found) == {}


@pytest.mark.parametrize(
    ("last", "category"),
    [
        ({"name": "Drill"}, "Tools"),
        ({"name": "Drill 12", "item": "https://shop.example/p/12"}, "Tools"),
        ({"name": "Drills", "item": "https://shop.example/c/drills"}, "Tools > Drills"),
    ],
)
def test_breadcrumbs_end_before_the_page_itself(last: dict[str, str], category: str) -> None:
    steps = [{"name": "Tools", "item": "https://shop.example/c/tools"}, last]
    crumbs = {"@type": "BreadcrumbList", "itemListElement": steps}
    product = {"@type": "Product", "name": "Drill", "offers": {"price": 1}}
    text = f'<script type="application/ld+json">{json.dumps([crumbs, product])}</script>'
    fields = main_product(read_structured(text, "https://shop.example/p/12"))
    assert fields["category"].value == category


@pytest.mark.parametrize(
    "text",
    ["{a: ", "{a:\n", "{a: b", "{a: 'x", "{a: [1, ", "[1, 2", "{a: {b: 1", "{a: 1 ", "{a: 1,", "{",
     "{a: 1 /* c", "{a: 1 // c", "{a: f("],
)  # fmt: skip
def test_an_object_without_an_end_is_refused_and_memory_behind_it_not_read(text: str) -> None:
    for number in range(300):
        left_behind = [f"{text}{number}, z: 7}}]}}*/" for _ in range(4)]
        del left_behind
        with pytest.raises(ValueError, match=r"it has no end|Error parsing input"):
            load_object("".join(list(text)))


def test_what_follows_an_object_is_not_read() -> None:
    found = load_object("{a: 1, b: [2, {c: '\uf8ff'}]}; var d = {e: ")
    assert found == {"a": 1, "b": [2, {"c": "\uf8ff"}]}
