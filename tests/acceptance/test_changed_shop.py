"""A second run over a shop that changed: prices are updated, their history is kept, nothing is
doubled, and `skitter export --changed-since` gives exactly what changed by the lab's truth.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

from skitter.cli.main import app
from skitter.lab import ShopSpec, WebSpec
from skitter.sinks import read_stored
from skitter.sinks.finalising import finalise
from tests.acceptance.demo_crawls import DemoCrawls
from tests.servers.mongo import MongoProcess
from tests.servers.postgres import PostgresProcess
from tests.truth import by, comparable, product_truth
from tests.wait import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from skitter.lab.pytest_plugin import StartLabProcess
    from tests.servers import ServerProcess

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(240)]

HOST, PRODUCTS, LATER = "shop-tn.lab", 60, 3
TRACKED = ("price", "currency", "regular_price", "stock", "stock_quantity")
Rows = dict[str, dict[str, Any]]


@pytest.fixture(params=["sqlite", "jsonl", "postgres", "mongo"])
def sink(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param in ("sqlite", "jsonl"):
        yield f"{request.param}:{tmp_path}/items"
        return
    with PostgresProcess() if request.param == "postgres" else MongoProcess() as server:
        yield server.url


@pytest.fixture
def crawls(
    lab_process: StartLabProcess, sink: str, valkey_server: ServerProcess, namespace: str
) -> DemoCrawls:
    shop = ShopSpec(products=PRODUCTS, locales=("fr-TN",), twice=0.3, aliases=0.5)
    lab = lab_process(WebSpec(hosts=1, pages=1, shop=shop))
    return DemoCrawls(lab, sink=sink, server=valkey_server.url, namespace=namespace)


@pytest.mark.parametrize("engine", ["fast", "scrapy"])
def test_a_second_run_updates_what_changed_and_keeps_its_history(
    engine: str, crawls: DemoCrawls
) -> None:
    before = truth(crawls, 0)
    crawl(crawls, engine, job="monday")
    assert stored(crawls) == before

    since = moment()
    crawls.lab.set_version(LATER)
    after = truth(crawls, LATER)
    changed = {sku for sku in before if tracked(before[sku]) != tracked(after[sku])}
    assert 0 < len(changed) < PRODUCTS
    assert any(before[sku]["price"] != after[sku]["price"] for sku in changed)
    crawl(crawls, engine, job="tuesday")
    assert stored(crawls) == after
    assert exported(crawls, since) == {sku: after[sku] for sku in changed}
    assert history(crawls) == {sku: (tracked(before[sku]), tracked(after[sku])) for sku in changed}
    assert jobs(crawls) == {("monday", "tuesday")}

    since = moment()
    crawl(crawls, engine, job="wednesday")
    assert stored(crawls) == after
    assert exported(crawls, since) == {}
    assert len(history(crawls)) == len(changed)


def crawl(crawls: DemoCrawls, engine: str, *, job: str) -> None:
    crawls.crawl(engine, "ecommerce", job=job, url=crawls.lab.url(HOST), recipe="tunisian-shop")
    if crawls.sink.startswith("jsonl:"):
        _, count = finalise(crawls.sink, job)
        assert count == PRODUCTS


def truth(crawls: DemoCrawls, version: int) -> Rows:
    rows = crawls.lab.shop_truth(version=version, host=HOST)
    return by("sku", [product_truth(row) for row in rows])


def stored(crawls: DemoCrawls) -> Rows:
    """What the sink has, in which no product is twice."""
    items = [found.item.data for found in read_stored(crawls.sink)]
    assert len(items) == PRODUCTS
    return by("sku", items)


def jobs(crawls: DemoCrawls) -> set[tuple[str, str]]:
    """The jobs that saw items first and last."""
    return {(found.first_job, found.item.job) for found in read_stored(crawls.sink)}


def exported(crawls: DemoCrawls, since: str) -> Rows:
    lines = run("export", "--from", crawls.sink, "--changed-since", since, "--bare").splitlines()
    rows = by("sku", map(json.loads, lines))
    assert len(rows) == len(lines)
    return rows


def history(crawls: DemoCrawls) -> dict[str, tuple[dict[str, Any], dict[str, Any]]]:
    """The one change of each product that has one, by its SKU."""
    skus = {found.item.id: found.item.data["sku"] for found in read_stored(crawls.sink)}
    changes = [
        json.loads(line) for line in run("history", "--json", "--from", crawls.sink).splitlines()
    ]
    found = {
        skus[change["item"]]: (tracked(change["before"]), tracked(change["after"]))
        for change in changes
    }
    assert len(found) == len(changes)
    assert {change["job"] for change in changes} <= {"tuesday"}
    return found


def tracked(row: dict[str, Any]) -> dict[str, Any]:
    """The fields of a product whose changes are kept, in a form that can be compared."""
    return comparable({name: row[name] for name in TRACKED if name in row})


def moment() -> str:
    """A time after all that was stored before it: those of sinks are in milliseconds."""
    now = datetime.now(UTC)
    later = wait_until(lambda: _after(now), what="the clock goes on")
    return later.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _after(moment: datetime) -> datetime | None:
    now = datetime.now(UTC)
    return now if (now - moment).total_seconds() >= 0.002 else None


def run(*command: str) -> str:
    done = CliRunner().invoke(app, list(command), catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout
