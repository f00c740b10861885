"""A copy of a frontier in use, and a frontier made of it: the same requests, jobs and counters."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from skitter.errors import FrontierNotEmpty, PauseTooShort
from skitter.frontier import lane_of
from skitter.frontier.copying import Copied, Copying
from skitter.frontier.pressure import Pressure
from tests.contract.frontier.crawl import hosts

if TYPE_CHECKING:
    from tests.contract.frontier.crawl import Crawl

LANES = [lane_of("spider")]


async def copied(crawl: Crawl) -> list[Copied]:
    found: list[Copied] = []
    await Copying(crawl.frontier).copy(found.extend, longest_s=20)
    return found


async def test_what_was_copied_comes_back_and_what_was_in_hand_is_queued(polite: Crawl) -> None:
    frontier = polite.frontier
    await polite.job()
    await polite.add(*(f"https://{host}/{n}" for host in hosts(12) for n in range(5)))
    leases = await polite.lease(30)
    await polite.settle(*leases[:5])
    before = await frontier.stats.job("j")
    assert before.leased == len(leases) - 5
    found = await copied(polite)
    await Copying(frontier).clear()
    await frontier.shards.begin(frontier.config)
    assert await Copying(frontier).is_empty()
    copying = Copying(frontier)
    assert await copying.fill([found]) == len(found)
    assert await frontier.stats.job("j") == before
    assert await copying.revive() == before.leased
    after = await frontier.stats.job("j")
    assert (after.queued, after.leased) == (before.queued + before.leased, 0)
    assert (after.accepted, after.done) == (before.accepted, before.done)
    await polite.counts_are_right()
    # Nobody knows when hosts were asked last: all of them rest.
    assert await polite.lease(100) == []
    polite.clock.step(frontier.config.lease_ms + 1000)
    left = set(hosts(12)) - (
        {lease.host for lease in leases[:5]} - {lease.host for lease in leases[5:]}
    )
    assert {lease.host for lease in await polite.lease(100)} == left
    assert (await Pressure(frontier.shards).jobs())[0].id == "j"


async def test_a_frontier_with_jobs_is_not_written_over(crawl: Crawl) -> None:
    await crawl.job()
    found = await copied(crawl)
    with pytest.raises(FrontierNotEmpty):
        await Copying(crawl.frontier).fill([found])


async def test_nothing_is_written_while_it_is_copied_and_writes_go_on_after(crawl: Crawl) -> None:
    await crawl.job()
    urls = [f"https://{host}/" for host in hosts(50)]
    await crawl.add(*urls)
    found: list[Copied] = []
    adding: list[asyncio.Task[object]] = []

    def take(batch: list[Copied]) -> None:
        if not adding:
            more = [f"{url}more" for url in urls]
            adding.append(asyncio.create_task(crawl.add(*more)))
        found.extend(batch)

    waited_s = await Copying(crawl.frontier).copy(take, longest_s=20)
    assert waited_s < 20
    await adding[0]
    assert (await crawl.frontier.stats.job("j")).accepted == 100
    await Copying(crawl.frontier).clear()
    await crawl.frontier.shards.begin(crawl.frontier.config)
    await Copying(crawl.frontier).fill([found])
    assert (await crawl.frontier.stats.job("j")).accepted == 50
    await crawl.counts_are_right()


async def test_a_copy_that_takes_too_long_is_given_up_and_writes_go_on(crawl: Crawl) -> None:
    await crawl.job()
    await crawl.add("https://www.site0.com/")
    with pytest.raises(PauseTooShort):
        await Copying(crawl.frontier).copy(lambda _: None, longest_s=0)
    await asyncio.wait_for(crawl.add("https://www.site1.com/"), 30)
