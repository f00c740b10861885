"""Every field of every item equals the lab's ground truth: all locales and pages, both engines.

A field that the truth has and the item has not, or the other way round, is a difference too.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from skitter.lab import ExchangeSpec, ShopSpec, WebSpec
from tests.integration.addon.crawling import Crawling
from tests.truth import by, product_truth, quote_truth

if TYPE_CHECKING:
    from pathlib import Path

    from skitter.lab import LabProcess
    from skitter.lab.pytest_plugin import StartLabProcess
    from tests.servers import ServerProcess

pytestmark = [pytest.mark.acceptance, pytest.mark.parametrize("engine", ["scrapy", "fast"])]

SHOPS = {"us": "en-US", "gb": "en-GB", "de": "de-DE", "fr": "fr-FR", "tn": ""}
PRODUCTS, TICKERS = 80, 120


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
    truth = [product_truth(row) for row in bench.lab.shop_truth(host=host)]
    assert by("sku", items) == by("sku", truth)
    assert len(items) == len(truth) == PRODUCTS


def test_the_exchange_is_read_without_a_difference(engine: str, bench: Bench) -> None:
    url = bench.lab.url("exchange.lab")
    items = bench.crawl(engine, "finance", url=url, recipe="demo-exchange")
    truth = [quote_truth(row) for row in bench.lab.exchange_truth()]
    assert by("ticker", items) == by("ticker", truth)
    assert len(items) == len(truth) == TICKERS


def test_its_tables_are_read_without_a_difference(engine: str, bench: Bench) -> None:
    url = bench.lab.url("exchange.lab")
    items = bench.crawl(engine, "finance", url=url, recipe="demo-exchange-tables")
    unsaid = ("time", "previous_close", "market")
    truth = [
        {name: value for name, value in quote_truth(row).items() if name not in unsaid}
        | {"url": row["url"]}
        for row in bench.lab.exchange_truth()
    ]
    assert by("ticker", items) == by("ticker", truth)
    assert len(items) == len(truth) == TICKERS
