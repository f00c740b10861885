"""The shop's items survive the death of workers and of their database: each once, each right."""

from __future__ import annotations

import secrets
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import pytest

from skitter.lab import LabProcess, ShopSpec, WebSpec
from tests.chaos.findings import Findings
from tests.chaos.nursery import Nursery
from tests.chaos.shop_crowd import ShopCrowd, judge_items
from tests.chaos.stores import STORES, Store, StoreName
from tests.servers import find_program
from tests.truth import product_truth

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(240)]


@pytest.fixture
def nursery() -> Iterator[Nursery]:
    find_program("valkey")
    with Nursery() as found:
        yield found


@pytest.mark.parametrize("store", STORES)
async def test_nothing_is_lost_or_doubled_though_workers_and_the_database_die(
    nursery: Nursery, store: StoreName
) -> None:
    seed = secrets.randbelow(10**6)
    print(f"seed {seed}")
    crowd = ShopCrowd(
        store=store, seed=seed, products=120, workers=3, most_kills=8, away_at=(3,), bound_s=200
    )
    findings = await crowd.run(nursery)
    assert not findings.faults, findings.examples
    assert findings.figures["items"] == 120
    assert findings.figures["workers_killed"] > 1
    assert findings.figures["database_kills"] == (store != "jsonl")


@pytest.fixture(scope="module")
def truth() -> list[dict[str, Any]]:
    spec = WebSpec(shop=ShopSpec(products=5, locales=("de-DE",)))
    with LabProcess(spec) as lab:
        return [product_truth(row) for row in lab.shop_truth()]


def test_the_judge_finds_what_is_lost_doubled_or_wrong(truth: list[dict[str, Any]]) -> None:
    wrong = deepcopy(truth[2])
    wrong["price"] = "0.01"
    findings = Findings()
    judge_items(findings, truth, [truth[0], truth[0], wrong, truth[3], truth[4]])
    assert findings.faults == {"doubled_items": 1, "wrong_items": 1, "lost_items": 1}
    right = Findings()
    judge_items(right, truth, truth)
    assert not right.faults


def test_a_torn_line_is_found(tmp_path: Path) -> None:
    store = Store("jsonl", "", None, tmp_path)
    (tmp_path / "a.jsonl").write_bytes(b'{"a": 1}\n{"b": 2}\n')
    assert store.torn() == []
    (tmp_path / "b.jsonl").write_bytes(b'{"a": 1}\n{"b"\n')
    (tmp_path / "c.jsonl").write_bytes(b'{"a": 1}')
    assert len(store.torn()) == 2
