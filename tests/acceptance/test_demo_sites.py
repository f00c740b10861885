"""Every field of every item equals the lab's ground truth: all locales and pages, both engines.

A field that the truth has and the item has not, or the other way round, is a difference too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from skitter.lab import ExchangeSpec, ShopSpec, WebSpec
from skitter.lab.demo_spec import MARKUPS
from skitter.sinks import read_items
from tests.acceptance.demo_crawls import DemoCrawls
from tests.truth import STATES, by, product_truth, quote_truth

if TYPE_CHECKING:
    from pathlib import Path

    from skitter.lab.pytest_plugin import StartLabProcess
    from tests.servers import ServerProcess

pytestmark = [pytest.mark.acceptance, pytest.mark.parametrize("engine", ["scrapy", "fast"])]

SHOPS = {"us": "en-US", "gb": "en-GB", "de": "de-DE", "fr": "fr-FR", "tn": ""}
PRODUCTS, TICKERS = 80, 120


class Bench(DemoCrawls):
    """Crawls that give back what they stored."""

    def items(self, engine: str, spider: str, **args: str) -> list[dict[str, Any]]:
        """The items of a crawl, each with where it came from."""
        self.crawl(engine, spider, **args)
        items = list(read_items(self.sink))
        assert {item.spider for item in items} == {spider}
        assert all(item.job and item.worker and item.url.startswith("http") for item in items)
        return [item.data for item in items]


@pytest.fixture
def bench(
    lab_process: StartLabProcess, tmp_path: Path, valkey_server: ServerProcess, namespace: str
) -> Bench:
    shop = ShopSpec(products=PRODUCTS, twice=0.3, aliases=0.5)  # several have two addresses
    spec = WebSpec(shop=shop, exchange=ExchangeSpec(tickers=TICKERS))
    sink = f"sqlite:{tmp_path}/items.db"
    return Bench(lab_process(spec), sink=sink, server=valkey_server.url, namespace=namespace)


@pytest.mark.parametrize("country", SHOPS)
def test_a_shop_is_read_without_a_difference(engine: str, country: str, bench: Bench) -> None:
    host, locale = f"shop-{country}.lab", SHOPS[country]
    recipe = "demo-shop" if locale else "tunisian-shop"
    arguments = {"locale": locale} if locale else {}
    url = bench.lab.url(host)
    items = bench.items(engine, "ecommerce", url=url, recipe=recipe, **arguments)
    rows = list(bench.lab.shop_truth(host=host))
    _has_every_kind_of_product(rows)
    truth = [product_truth(row) for row in rows]
    assert by("sku", items) == by("sku", truth)
    assert len(items) == len(truth) == PRODUCTS


def test_the_exchange_is_read_without_a_difference(engine: str, bench: Bench) -> None:
    url = bench.lab.url("exchange.lab")
    items = bench.items(engine, "finance", url=url, recipe="demo-exchange")
    rows = list(bench.lab.exchange_truth())
    _has_every_kind_of_quote(rows)
    truth = [quote_truth(row) for row in rows]
    assert by("ticker", items) == by("ticker", truth)
    assert len(items) == len(truth) == TICKERS


def test_its_tables_are_read_without_a_difference(engine: str, bench: Bench) -> None:
    url = bench.lab.url("exchange.lab")
    items = bench.items(engine, "finance", url=url, recipe="demo-exchange-tables")
    unsaid = ("time", "previous_close", "market")
    truth = [
        {name: value for name, value in quote_truth(row).items() if name not in unsaid}
        | {"url": row["url"]}
        for row in bench.lab.exchange_truth()
    ]
    assert by("ticker", items) == by("ticker", truth)
    assert len(items) == len(truth) == TICKERS


def _has_every_kind_of_product(rows: list[dict[str, Any]]) -> None:
    """A shop that lacked one would prove nothing of it."""
    assert {row["markup"] for row in rows} == set(MARKUPS)
    assert {row["availability"] for row in rows} == set(STATES)
    for name in ("regular_price", "rating", "stock"):
        assert {row[name] is None for row in rows} == {True, False}, name
    assert {float(row["price"]) >= 1000 for row in rows} == {True, False}
    assert {len(row["categories"]) for row in rows} == {1, 2}


def _has_every_kind_of_quote(rows: list[dict[str, Any]]) -> None:
    assert {bool(row["api_url"]) for row in rows} == {True, False}
    assert {float(row["change"]) < 0 for row in rows} == {True, False}
    for name in ("volume", "market_cap"):
        assert {row[name] is None for row in rows} == {True, False}, name
    caps = [row["market_cap"] or 0 for row in rows]
    assert all(any(unit <= cap < unit * 1000 for cap in caps) for unit in (10**6, 10**9))
    assert len({row["currency"] for row in rows}) >= 4
