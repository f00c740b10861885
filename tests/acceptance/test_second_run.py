"""A second run over a shop that changed: prices are updated, history is kept, nothing is doubled.

What changed is what the lab's ground truth says of the two versions.
"""

from __future__ import annotations

import json
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

from skitter.cli.main import app
from skitter.lab import ExchangeSpec, ShopSpec, WebSpec
from skitter.sinks import read_history, read_stored
from skitter.sinks.rows import now_text
from tests.integration.addon.crawling import Crawling
from tests.wait import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from skitter.lab import LabProcess
    from skitter.lab.pytest_plugin import StartLabProcess
    from tests.servers import ServerProcess

    Run = Callable[..., None]

pytestmark = pytest.mark.acceptance

PRODUCTS, TICKERS = 60, 60
HOST = "shop-us.lab"


@pytest.fixture
def lab(lab_process: StartLabProcess) -> LabProcess:
    shop = ShopSpec(products=PRODUCTS, twice=0.3, aliases=0.5)  # several have two addresses
    return lab_process(WebSpec(shop=shop, exchange=ExchangeSpec(tickers=TICKERS)))


@pytest.fixture(params=["sqlite", "jsonl"])
def sink(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return f"{request.param}:{tmp_path / 'items'}"


@pytest.fixture
def run(lab: LabProcess, sink: str, valkey_server: ServerProcess, namespace: str) -> Run:
    """Crawl as a job of a given name."""
    skitter: dict[str, Any] = {
        "redis.url": valkey_server.url,
        "redis.namespace": namespace,
        "items.sink": sink,
        "fetch.resolve": [lab.rule],
        "politeness.delay_s": 0,
        "politeness.latency_factor": 0,
        "frontier.caretaker_tick_s": 0.1,
    }

    def crawl(job: str, spider: str, **args: str) -> None:
        settings = {"TELNETCONSOLE_ENABLED": False, "SKITTER_JOB": job, "SKITTER": skitter}
        path = f"{spider}.{spider.capitalize()}Spider"
        crawling = Crawling(path, settings, args, fast=True, module="skitter.spiders")
        try:
            outcome = crawling.outcome(timeout_s=110)
        finally:
            crawling.kill()
        assert not outcome.error, outcome.error

    return crawl


def between() -> str:
    """A time after all that was stored, and before all that will be."""
    now = now_text()
    wait_until(lambda: now_text() > now, what="the clock goes on")
    return now_text()


def exported(sink: str, *options: str) -> list[dict[str, Any]]:
    done = CliRunner().invoke(app, ["export", "--from", sink, *options], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_a_shop_that_changed(lab: LabProcess, sink: str, run: Run) -> None:
    args = {"url": lab.url(HOST), "recipe": "demo-shop", "locale": "en-US"}
    run("monday", "ecommerce", **args)
    first = {row["sku"]: row for row in lab.shop_truth(host=HOST)}
    then = between()
    run("again", "ecommerce", **args)
    assert exported(sink, "--changed-since", then) == []
    then = between()
    lab.set_version(1)
    run("tuesday", "ecommerce", **args)
    second = {row["sku"]: row for row in lab.shop_truth(host=HOST)}

    changed = {sku for sku, row in second.items() if _offer(row) != _offer(first[sku])}
    assert 0 < len(changed) < PRODUCTS
    items = exported(sink)
    assert len(items) == PRODUCTS
    for item in items:
        assert " demo-shop/" in item["_parser"]
        assert then < item["_fetched_at"] <= item["_last_seen"]
        assert item["_worker"]
    assert {item["sku"]: Decimal(item["price"]) for item in items if item.get("price")} == {
        sku: Decimal(row["price"]) for sku, row in second.items() if row["price"]
    }
    found = exported(sink, "--changed-since", then)
    assert {item["sku"] for item in found} == changed
    assert len(found) == len(changed)
    _check_history(sink, first, second, changed=changed)


def _check_history(sink: str, first: Any, second: Any, *, changed: set[str]) -> None:
    """One change for each product that changed, from its old price to its new one."""
    skus = {found.item.id: found.item.data["sku"] for found in read_stored(sink)}
    history = {skus[change.item]: change for change in read_history(sink)}
    assert len(list(read_history(sink))) == len(history)
    assert set(history) == changed
    for sku, change in history.items():
        assert change.job == "tuesday"
        for values, truth in ((change.before, first[sku]), (change.after, second[sku])):
            price = values.get("price")
            assert (Decimal(price) if price else None) == (
                Decimal(truth["price"]) if truth["price"] else None
            )
    seen = {found.first_job: found.item.job for found in read_stored(sink)}
    assert seen == {"monday": "tuesday"}


def _offer(row: dict[str, Any]) -> tuple[Any, ...]:
    """What is tracked of a product, in the truth's words."""
    return tuple(row[name] for name in ("price", "regular_price", "availability", "stock"))
