"""A short run of the chaos suite: some rounds, every planted fault, a small refereed crawl."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

import pytest

from tests.chaos.addon_crowd import ENGINES, AddonCrowd, Engine
from tests.chaos.campaign import Campaign
from tests.chaos.nursery import Nursery
from tests.chaos.plants import PLANTS, check_edits
from tests.chaos.refereed import Crowd
from tests.servers import find_program

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(240)]


@pytest.fixture
def seed() -> int:
    """In the captured output, for `python -m tests.chaos --seed`."""
    chosen = secrets.randbelow(10**6) * 1000
    print(f"seed {chosen}")
    return chosen


@pytest.fixture
def nursery() -> Iterator[Nursery]:
    find_program("redis")
    find_program("valkey")
    with Nursery() as found:
        yield found


async def test_nothing_is_lost_or_live_twice_whatever_is_killed_stopped_or_cut(
    nursery: Nursery, seed: int
) -> None:
    campaign = Campaign(nursery)
    await campaign.run_rounds(range(seed, seed + 12))
    assert not campaign.findings.faults, campaign.findings.examples


async def test_every_planted_fault_is_found(nursery: Nursery, seed: int) -> None:
    check_edits()
    campaign = Campaign(nursery)
    await campaign.find_plants(PLANTS, seed=seed)
    assert campaign.unfound == []


async def test_the_referee_sees_no_violation_though_crawlers_die(
    nursery: Nursery, seed: int
) -> None:
    crowd = Crowd(hosts=24, processes=3, seed=seed, pages=5)
    findings, coverage = await crowd.run(nursery)
    assert not findings.faults, findings.examples
    assert coverage == 1.0
    assert findings.figures["crawlers_killed"] > 0


@pytest.mark.parametrize("engine", ENGINES)
async def test_scrapy_workers_lose_no_item_though_they_die_and_the_server_restarts(
    nursery: Nursery, seed: int, engine: Engine
) -> None:
    crowd = AddonCrowd(hosts=24, pages=12, seed=seed, engine=engine, restart_at=(2, 7), bound_s=120)
    findings, coverage = await crowd.run(nursery)
    assert not findings.faults, findings.examples
    assert coverage == 1.0
    assert findings.figures["workers_killed"] > 0
