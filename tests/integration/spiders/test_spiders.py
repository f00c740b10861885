"""The spiders on each engine: what they give, what is held back, and where a walk leads."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Protocol

import pytest

from skitter.lab import ShopSpec, WebSpec
from skitter.sinks import open_sink
from skitter.sinks.quarantine import Quarantine, recheck
from skitter.spiders.checking import judge_by
from tests.integration.addon.crawling import Crawling

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from skitter.lab import LabProcess
    from skitter.lab.pytest_plugin import StartLabProcess
    from skitter.sinks import Item
    from tests.servers import ServerProcess

pytestmark = pytest.mark.integration

PRODUCTS = 40
ENGINES = ("plain", "scrapy", "fast")
THROUGH_LAB = {"tests.integration.spiders.proxying.ThroughLab": 1}
Items = list[dict[str, Any]]


class Crawl(Protocol):
    def __call__(self, engine: str, spider: str, **args: str) -> Items: ...


@pytest.fixture
def lab(lab_process: StartLabProcess) -> LabProcess:
    shop = ShopSpec(products=PRODUCTS, twice=0.5, aliases=1.0)
    return lab_process(WebSpec(hosts=2, pages=12, shop=shop))


@pytest.fixture
def crawl(lab: LabProcess, tmp_path: Path, valkey_server: ServerProcess, namespace: str) -> Crawl:
    """Runs a spider on an engine, and gives its items."""
    settings: dict[str, Any] = {
        "TELNETCONSOLE_ENABLED": False,
        "LOG_LEVEL": "INFO",
        "SKITTER": {
            "redis.url": valkey_server.url,
            "redis.namespace": namespace,
            "items.sink": f"sqlite:{tmp_path / 'items.db'}",
            "fetch.resolve": [lab.rule],
            "politeness.delay_s": 0,
            "politeness.latency_factor": 0,
            "frontier.caretaker_tick_s": 0.1,
        },
    }
    plain = {
        "SKITTER_QUARANTINE": str(tmp_path / "items.db"),
        "LAB_PROXY": lab.proxy,
        "DOWNLOADER_MIDDLEWARES": THROUGH_LAB,
        "FEEDS": {str(tmp_path / "items.jsonl"): {"format": "jsonlines"}},
        "ROBOTSTXT_OBEY": True,
        "DOWNLOAD_DELAY": 0,
    }
    addon = {"ADDONS": {"skitter.addon.Addon": 500}}
    extras: dict[str, dict[str, Any]] = {"plain": plain, "scrapy": addon, "fast": {}}

    def run(engine: str, spider: str, **args: str) -> Items:
        path = f"{spider}.{spider.capitalize()}Spider"
        chosen = settings | extras[engine]
        crawling = Crawling(path, chosen, args, fast=engine == "fast", module="skitter.spiders")
        try:
            outcome = crawling.outcome()
        finally:
            crawling.kill()
        assert not outcome.error, outcome.error
        assert "ERROR" not in outcome.log, outcome.log
        return _of_feed(tmp_path) if engine == "plain" else _of_sink(tmp_path)

    return run


def _of_feed(folder: Path) -> Items:
    return [json.loads(line) for line in (folder / "items.jsonl").read_text().splitlines()]


def _of_sink(folder: Path) -> Items:
    with closing(sqlite3.connect(folder / "items.db")) as database:
        rows = database.execute("SELECT data FROM items").fetchall()
    return [json.loads(data) for (data,) in rows]


@pytest.mark.parametrize("engine", ENGINES)
def test_aliases_do_not_double_products(engine: str, crawl: Crawl, lab: LabProcess) -> None:
    url = lab.url("shop-tn.lab")
    items = crawl(engine, "ecommerce", url=url, recipe="tunisian-shop")
    truth = list(lab.shop_truth(host="shop-tn.lab"))
    assert sorted(item["url"] for item in items) == sorted(row["url"] for row in truth)
    prices = {row["sku"]: Decimal(row["price"]) for row in truth}
    assert {item["sku"]: Decimal(item["price"]) for item in items} == prices


@pytest.mark.parametrize("engine", ENGINES)
async def test_what_cannot_be_trusted_is_held_and_released_after_a_fix(
    engine: str, crawl: Crawl, lab: LabProcess, tmp_path: Path
) -> None:
    """Without its locale, a dollar on a page that tells machines nothing could be any dollar."""
    items = crawl(engine, "ecommerce", url=lab.url("shop-us.lab"), recipe="demo-shop")
    truth = {row["sku"]: row for row in lab.shop_truth(host="shop-us.lab")}
    told = {sku for sku, row in truth.items() if row["markup"] != "plain"}
    assert {item["sku"] for item in items} == told
    quarantine = Quarantine(tmp_path / "items.db")
    entries = list(quarantine.entries())
    assert {entry.item.data["sku"] for entry in entries} == set(truth) - told
    assert {entry.field for entry in entries} == {"currency"}
    assert all(entry.item.data["raw"]["price"].startswith("$") for entry in entries)
    ours = judge_by()

    def declared(item: Item) -> Mapping[str, Any] | str:
        item.data["currency"] = "USD"
        return ours(item)

    sink = open_sink(f"sqlite:{tmp_path / 'released.db'}")
    await sink.open()
    done = await recheck(quarantine, declared, sink)
    await sink.close()
    assert (done.released, done.held, quarantine.count()) == (len(entries), 0, 0)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_page_on_demand_with_its_attrs(engine: str, crawl: Crawl, lab: LabProcess) -> None:
    url = lab.url(0)
    (item,) = crawl(engine, "link", url=url, body="1", attrs='{"case": 7}')
    assert (item["url"], item["status"], item["attrs"]) == (url, 200, {"case": 7})
    assert item["title"] in item["body"]
    assert item["links"]
    assert item["headers"]["Content-Type"].startswith("text/html")


@pytest.mark.parametrize("engine", ENGINES)
def test_depth_and_scope_bound_what_is_fetched(engine: str, crawl: Crawl, lab: LabProcess) -> None:
    items = crawl(engine, "link", url=lab.url(0), depth="1")
    first = next(item for item in items if item["url"] == lab.url(0))
    here = {url for url in first["links"] if url.startswith(lab.url(0))}
    assert {item["url"] for item in items} == here | {lab.url(0)}


def test_a_walk_is_the_same_on_every_engine(crawl: Crawl, lab: LabProcess, tmp_path: Path) -> None:
    walks = []
    for engine in ENGINES:
        items = crawl(engine, "wandering", url=lab.url(0), steps="12", seed="3")
        walks.append([item["url"] for item in sorted(items, key=lambda item: item["step"])])
        (tmp_path / "items.db").unlink(missing_ok=True)
    assert len(walks[0]) == 12
    assert walks[0] == walks[1] == walks[2]
