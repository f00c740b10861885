"""Every field of every item equals the lab's ground truth: all locales and pages, both engines.

A field that the truth has and the item has not, or the other way round, is a difference too.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from skitter.lab import ExchangeSpec, ShopSpec, WebSpec
from tests.integration.addon.crawling import Crawling

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from skitter.lab import LabProcess
    from skitter.lab.pytest_plugin import StartLabProcess
    from tests.servers import ServerProcess

pytestmark = [pytest.mark.acceptance, pytest.mark.parametrize("engine", ["scrapy", "fast"])]

SHOPS = {"us": "en-US", "gb": "en-GB", "de": "de-DE", "fr": "fr-FR", "tn": ""}
PRODUCTS, TICKERS = 80, 120
STATES = {
    "InStock": "in_stock",
    "OutOfStock": "out_of_stock",
    "PreOrder": "preorder",
    "BackOrder": "backorder",
}
BESIDES = {"raw", "problems", "recipe", "rating_best"}
"""What an item tells of how it was read, and what the truth does not say."""
AMOUNTS = ("price", "regular_price", "rating", "change", "percent", "previous_close")
Rows = dict[str, dict[str, Any]]


class Bench:
    """Runs spiders on one engine against one lab."""

    def __init__(self, lab: LabProcess, folder: Path, server: str, namespace: str) -> None:
        self.lab = lab
        self._file = folder / "items.db"
        self._settings: dict[str, Any] = {
            "TELNETCONSOLE_ENABLED": False,
            "LOG_LEVEL": "INFO",
            "SKITTER": {
                "redis.url": server,
                "redis.namespace": namespace,
                "items.sink": f"sqlite:{self._file}",
                "fetch.resolve": [lab.rule],
                "politeness.delay_s": 0,
                "politeness.latency_factor": 0,
                "frontier.caretaker_tick_s": 0.1,
            },
        }

    def crawl(self, engine: str, spider: str, **args: str) -> list[dict[str, Any]]:
        """The items of a crawl; none is in quarantine."""
        fast = engine == "fast"
        settings = self._settings | ({} if fast else {"ADDONS": {"skitter.addon.Addon": 500}})
        path = f"{spider}.{spider.capitalize()}Spider"
        crawling = Crawling(path, settings, args, fast=fast, module="skitter.spiders")
        try:
            outcome = crawling.outcome()
        finally:
            crawling.kill()
        assert not outcome.error, outcome.error
        assert "skitter/quarantined" not in outcome.stats, outcome.log
        with closing(sqlite3.connect(self._file)) as database:
            rows = database.execute("SELECT data FROM items").fetchall()
        return [json.loads(data) for (data,) in rows]


@pytest.fixture
def bench(
    lab_process: StartLabProcess, tmp_path: Path, valkey_server: ServerProcess, namespace: str
) -> Bench:
    shop = ShopSpec(products=PRODUCTS, twice=0.3, aliases=0.5)  # several have two addresses
    spec = WebSpec(shop=shop, exchange=ExchangeSpec(tickers=TICKERS))
    return Bench(lab_process(spec), tmp_path, valkey_server.url, namespace)


@pytest.mark.parametrize("country", SHOPS)
def test_a_shop_is_read_without_a_difference(engine: str, country: str, bench: Bench) -> None:
    host, locale = f"shop-{country}.lab", SHOPS[country]
    recipe = "demo-shop" if locale else "tunisian-shop"
    arguments = {"locale": locale} if locale else {}
    url = bench.lab.url(host)
    items = bench.crawl(engine, "ecommerce", url=url, recipe=recipe, **arguments)
    truth = [_product(row) for row in bench.lab.shop_truth(host=host)]
    assert _by("sku", items) == _by("sku", truth)
    assert len(items) == len(truth) == PRODUCTS


def test_the_exchange_is_read_without_a_difference(engine: str, bench: Bench) -> None:
    url = bench.lab.url("exchange.lab")
    items = bench.crawl(engine, "finance", url=url, recipe="demo-exchange")
    truth = [_quote(row) for row in bench.lab.exchange_truth()]
    assert _by("ticker", items) == _by("ticker", truth)
    assert len(items) == len(truth) == TICKERS


def test_its_tables_are_read_without_a_difference(engine: str, bench: Bench) -> None:
    url = bench.lab.url("exchange.lab")
    items = bench.crawl(engine, "finance", url=url, recipe="demo-exchange-tables")
    unsaid = ("time", "previous_close", "market")
    truth = [
        {name: value for name, value in _quote(row).items() if name not in unsaid}
        | {"url": row["url"]}
        for row in bench.lab.exchange_truth()
    ]
    assert _by("ticker", items) == _by("ticker", truth)
    assert len(items) == len(truth) == TICKERS


def _product(row: dict[str, Any]) -> dict[str, Any]:
    """The truth of a product, in the words of an item."""
    same = ("url", "sku", "name", "brand", "description", "images", "price", "regular_price")
    was = row["regular_price"]
    return {name: row[name] for name in (*same, "currency", "rating")} | {
        "category": " > ".join(row["category"]),
        "stock": STATES[row["availability"]],
        "stock_quantity": row["stock"],
        "rating_count": row["reviews"],
        "regular_price_currency": row["currency"] if was else None,
    }


def _quote(row: dict[str, Any]) -> dict[str, Any]:
    """The truth of a quote; its address is that of the page that tells it."""
    aside = ("version", "host", "api_url")
    own = {name: value for name, value in row.items() if name not in aside}
    return own | {"url": row["api_url"] or row["url"]}


def _by(key: str, rows: Iterable[dict[str, Any]]) -> Rows:
    """Rows by their key, in a form that can be compared."""
    return {row[key]: _plain(row) for row in rows}


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    kept = {
        name: value
        for name, value in row.items()
        if value is not None and name not in BESIDES and not name.endswith("currency_raw")
    }
    amounts = {name: Decimal(kept[name]) for name in AMOUNTS if name in kept}
    time = {"time": datetime.fromisoformat(kept["time"])} if "time" in kept else {}
    return kept | amounts | time
