from __future__ import annotations

import struct
import zlib
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from skitter.lab import LabSpecError, ShopSpec, Web, WebSpec, spec_from
from skitter.lab.demo_spec import LOCALES
from skitter.lab.site import Site
from skitter.lab.spec import spec_values
from skitter.lab.wire import parse_head
from tests.unit.lab.readers import (
    Row,
    as_numbers,
    classes_of,
    links,
    read_json_ld,
    read_microdata,
    read_product,
)

if TYPE_CHECKING:
    from skitter.lab.answer import Answer

WORDS = ("OutOfStock", "PreOrder", "BackOrder", "InStock")


def make(version: int = 0, **shop: Any) -> Site:
    return Site(Web(WebSpec(shop=ShopSpec(**shop), version=version)))


def ask(site: Site, url: str, *headers: str) -> Answer:
    host, _, path = url.removeprefix("http://").partition("/")
    lines = [f"GET /{path} HTTP/1.1", f"Host: {host}", *headers]
    return site.answer(parse_head("\r\n".join(lines).encode()))


def truth(site: Site, version: int = 0, host: str = "") -> list[Row]:
    return [as_numbers(row) for row in site.web.demos.shop_truth(version, host=host)]


def listed(site: Site, host: str, locale: str) -> list[str]:
    """Every product link of every listing, by following categories and `next`."""
    names, found = classes_of(locale), []
    origin = f"http://{host}"
    for category in links(ask(site, f"{origin}/").body, f".{names['categories']} a"):
        for shelf in links(ask(site, origin + category).body, f".{names['categories']} a"):
            ahead = [shelf]
            while ahead:
                page = ask(site, origin + ahead.pop())
                assert page.status == 200
                found += links(page.body, f".{names['card']} a")
                ahead = links(page.body, "a[rel=next]")
    return found


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize("version", [0, 7])
def test_every_page_shows_what_the_truth_says(locale: str, version: int) -> None:
    site = make(version, products=120, locales=(locale,))
    rows = truth(site, version)
    for row in rows:
        shown = read_product(ask(site, row["url"]).body, row["url"])
        assert shown == {name: row[name] for name in shown}
    assert len(rows) == 120
    assert {row["availability"] for row in rows} == set(WORDS)
    assert {row["price"] > 1000 for row in rows} == {True, False}
    assert len({row["sku"] for row in rows}) == len({row["url"] for row in rows}) == 120


@pytest.mark.parametrize("locale", LOCALES)
def test_structured_data_says_the_same_where_there_is_any(locale: str) -> None:
    site = make(products=90, locales=(locale,))
    kinds: Counter[str] = Counter()
    for row in truth(site):
        body = ask(site, row["url"]).body
        found = {
            "json-ld": read_json_ld(body),
            "microdata": read_microdata(body, row["url"]),
        }
        told = {kind: values for kind, values in found.items() if values}
        assert list(told) == [row["markup"]] * (row["markup"] != "plain")
        for values in told.values():
            assert values == {name: row[name] for name in values}
        kinds[row["markup"]] += 1
    assert min(kinds[kind] for kind in ("json-ld", "microdata", "plain")) > 10


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize(("products", "twice"), [(1, 0.15), (7, 1.0), (333, 0.15), (260, 0.5)])
def test_listings_lead_to_every_product_as_often_as_it_has_categories(
    locale: str, products: int, twice: float
) -> None:
    site = make(products=products, twice=twice, per_page=5, locales=(locale,))
    host = site.web.demos.hosts()[0]
    found = Counter(path.partition("?")[0] for path in listed(site, host, locale))
    expected = {
        row["url"].removeprefix(f"http://{host}"): len(row["categories"]) for row in truth(site)
    }
    assert found == expected


def test_a_second_listing_may_lead_to_another_url_of_the_same_product() -> None:
    site = make(products=400, twice=0.5, aliases=0.5, locales=("de-DE",))
    found = listed(site, "shop-de.lab", "de-DE")
    aliases = [path for path in found if "?ref=" in path]
    assert 50 < len(aliases) < 150
    for path in aliases[:20]:
        url = f"http://shop-de.lab{path}"
        canonical = read_product(ask(site, url).body, url)["url"]
        assert canonical == url.partition("?")[0]
    assert set(found) <= set(site.web.demos.shops[0].paths())


def test_a_listing_shows_the_price_of_the_product_page() -> None:
    site = make(products=60, locales=("fr-TN",))
    cards = ask(site, "http://shop-tn.lab/c/informatique/ecrans/").body.decode()
    prices = [row["price_text"] for row in truth(site) if row["category"][1] == "Écrans"]
    assert len(prices) == 3
    assert all(f">{price}<" in cards for price in prices)


def test_a_version_changes_on_pages_exactly_what_it_changes_in_the_truth() -> None:
    site = make(products=60, price_changes=0.2, stock_changes=0.1, locales=("fr-FR", "en-GB"))
    for version in range(1, 6):
        before, after = truth(site, version - 1), truth(site, version)
        for old, new in zip(before, after, strict=True):
            site.version = version - 1
            old_page = read_product(ask(site, old["url"]).body, old["url"])
            site.version = version
            new_page = read_product(ask(site, new["url"]).body, new["url"])
            differing = {name for name in old_page if old_page[name] != new_page[name]}
            assert differing == {name for name in old_page if old[name] != new[name]}


def test_each_version_changes_its_share_and_nothing_that_lasts() -> None:
    site = make(products=1000, price_changes=0.2, stock_changes=0.05, locales=("fr-TN",))
    prices, stocks = [], []
    lasting = {"url", "sku", "name", "brand", "categories", "description", "images", "rating"}
    for before, after in pairwise(truth(site, version) for version in range(11)):
        pairs = zip(before, after, strict=True)
        differing = [{name for name in old if old[name] != new[name]} for old, new in pairs]
        prices.append(sum("price" in names for names in differing))
        stocks.append(sum(bool(names & {"availability", "stock"}) for names in differing))
        assert not any(names & lasting for names in differing)
    assert all(150 < count < 250 for count in prices)
    assert all(25 < count < 75 for count in stocks)
    assert 1950 <= sum(prices) <= 2050
    assert 450 <= sum(stocks) <= 550


def test_if_every_version_changes_everything_nothing_stays() -> None:
    site = make(products=300, price_changes=1, stock_changes=1, locales=("en-US", "fr-TN"))
    for version in range(1, 8):
        for old, new in zip(truth(site, version - 1), truth(site, version), strict=True):
            assert old["price"] != new["price"]
            assert (old["availability"], old["stock"]) != (new["availability"], new["stock"])


def test_a_crossed_out_price_is_higher_and_as_frequent_as_asked() -> None:
    for share in (0.0, 0.25, 1.0):
        rows = truth(make(products=300, sales=share))
        crossed = [row for row in rows if row["regular_price"] is not None]
        assert abs(len(crossed) / len(rows) - share) < 0.03
        assert all(row["regular_price"] > row["price"] for row in crossed)


def test_prices_have_the_decimals_of_their_currency() -> None:
    rows = list(make(products=50).web.demos.shop_truth(0))
    for row in rows:
        assert len(row["price"].partition(".")[2]) == (3 if row["currency"] == "TND" else 2)
    assert {row["currency"] for row in rows} == {"USD", "GBP", "EUR", "TND"}


def test_out_of_stock_is_worded_in_several_ways_in_every_locale() -> None:
    wordings: dict[str, set[str]] = {}
    for row in truth(make(products=200)):
        if row["availability"] == "OutOfStock":
            wordings.setdefault(row["locale"], set()).add(row["availability_text"])
    assert {locale: len(words) for locale, words in wordings.items()} == dict.fromkeys(LOCALES, 4)


def test_pictures_are_pictures_and_differ() -> None:
    site = make(products=40, locales=("en-US",))
    images = [image for row in truth(site) for image in row["images"]]
    answers = [ask(site, image) for image in images]
    assert len({answer.body for answer in answers}) == len(images) > 40
    for image, answer in zip(images, answers, strict=True):
        png = image.endswith(".png")
        assert answer.content_type == ("image/png" if png else "image/jpeg")
        _check_png(answer.body) if png else _check_jpeg(answer.body)


def _check_png(body: bytes) -> None:
    assert body.startswith(b"\x89PNG\r\n\x1a\n")
    length, kind = struct.unpack(">I4s", body[8:16])
    assert (kind, struct.unpack(">II", body[16:24])) == (b"IHDR", (1, 1))
    assert struct.unpack(">I", body[16 + length : 20 + length])[0] == zlib.crc32(body[12:29])


def _check_jpeg(body: bytes) -> None:
    """Each segment's length leads to the next marker, up to the scan."""
    assert (body[:2], body[-2:]) == (b"\xff\xd8", b"\xff\xd9")
    place = 2
    while body[place + 1] != 0xDA:
        assert body[place] == 0xFF
        place += 2 + int(struct.unpack(">H", body[place + 2 : place + 4])[0])
    assert place < len(body)


def test_another_name_in_the_path_leads_to_the_right_one() -> None:
    site = make(products=20, locales=("en-US",))
    answer = ask(site, "http://shop-us.lab/p/old-name-3.html")
    path = dict(answer.headers)["Location"]
    assert answer.status == 301
    assert ask(site, f"http://shop-us.lab{path}").status == 200


@pytest.mark.parametrize(
    "path",
    ["/c/none/", "/c/computers/none/", "/c/computers/laptops/?page=0", "/p/x-20.html", "/p/3.html",
     "/c/computers/laptops/?page=2", "/c/computers/laptops/?page=x", "/img/3-9.png",
     "/img/20-1.png", "/sitemap-2.xml", "/p/1", "/login"],
)  # fmt: skip
def test_where_nothing_is_there_is_a_404(path: str) -> None:
    site = make(products=20, locales=("en-US",))
    assert ask(site, f"http://shop-us.lab{path}").status == 404


def test_an_etag_lasts_until_the_page_changes() -> None:
    site = make(products=1, price_changes=1, locales=("en-US",))
    url = truth(site)[0]["url"]
    etag = dict(ask(site, url).headers)["ETag"]
    known = f"If-None-Match: {etag}"
    again = ask(site, url, known)
    assert (again.status, again.body) == (304, b"")
    site.version = 1
    assert ask(site, url, known).status == 200


def test_the_same_seed_gives_the_same_shop_and_another_seed_another() -> None:
    one, same, other = (
        list(Web(WebSpec(seed=seed, shop=ShopSpec(products=50))).demos.shop_truth(4))
        for seed in (1, 1, 2)
    )
    assert one == same
    assert [row["price"] for row in one] != [row["price"] for row in other]


def test_a_huge_shop_costs_no_more_than_a_small_one() -> None:
    site = make(products=10_000_000, locales=("fr-FR",), twice=0.15)
    last = ask(site, "http://shop-fr.lab/c/informatique/ecrans/?page=28750")
    assert last.status == 200
    assert ask(site, "http://shop-fr.lab/c/informatique/ecrans/?page=28751").status == 404
    for path in links(last.body, ".product-card a"):
        assert ask(site, f"http://shop-fr.lab{path}").status == 200


def test_a_web_without_shops_has_no_truth_of_them() -> None:
    web = Web(WebSpec())
    with pytest.raises(LabSpecError, match="no shop"):
        web.demos.shop_truth(0)
    with pytest.raises(LabSpecError, match=r"no shop on shop-xx\.lab"):
        Web(WebSpec(shop=ShopSpec())).demos.shop_truth(0, host="shop-xx.lab")
    with pytest.raises(LabSpecError, match="no exchange"):
        web.demos.exchange_truth(0)


def test_a_spec_with_demo_sites_comes_back_from_its_values() -> None:
    spec = spec_from({"version": 3, "shop": {"products": 9, "locales": ["fr-TN"]}, "exchange": {}})
    assert spec.shop == ShopSpec(products=9, locales=("fr-TN",))
    assert spec_from(spec_values(spec)) == spec


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"shop": {"products": 0}}, "products"),
        ({"shop": {"locales": ["xx-XX"]}}, "en-US, en-GB"),
        ({"shop": {"locales": ["fr-FR", "fr-FR"]}}, "locales"),
        ({"shop": {"markup": ["rdfa"]}}, "markup"),
        ({"shop": {"twice": 1.5}}, r"shop\.twice must be from 0 to 1"),
        ({"shop": {"host_pattern": "shop.lab"}}, "{country}"),
        ({"shop": {"delay_ms": -1}}, "delay_ms"),
        ({"shop": {"produkte": 3}}, "produkte"),
        ({"exchange": {"tickers": 0}}, "tickers"),
        ({"exchange": {"concurrency": 0}}, "concurrency"),
        ({"exchange": {"host": "Exchange.lab"}}, "lower case"),
        ({"version": -1}, "version must be from 0"),
        ({"version": 10_001}, "version must be from 0"),
    ],
)
def test_a_bad_demo_site_is_refused_by_name(values: dict[str, object], message: str) -> None:
    with pytest.raises(LabSpecError, match=message):
        spec_from(values)
