"""The caretaking loops: any process may run them, one at a time for each shard."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from skitter.frontier import Caretaker
from tests.contract.frontier.crawl import LEASE_MS, hosts, pages
from tests.wait import wait_until_async

if TYPE_CHECKING:
    from tests.contract.frontier.crawl import Crawl


async def test_a_tick_reaps_what_ran_out(crawl: Crawl) -> None:
    await crawl.job()
    await crawl.add(*(f"https://{host}/" for host in hosts(8)))
    assert len(await crawl.lease()) == 8
    for _ in range(3):
        crawl.clock.step(LEASE_MS // 3)
        await crawl.tend()
    assert (await crawl.frontier.stats.job("j")).queued == 8


async def test_only_one_caretaker_tends_a_shard(crawl: Crawl) -> None:
    await crawl.job()
    other = await crawl.worker("w2")
    first, second = Caretaker(crawl.frontier), Caretaker(other.frontier)
    fences = [await first._lock(0), await second._lock(0), await first._lock(0)]
    assert fences == [1, 0, 1]
    crawl.clock.step(6_000)
    assert await second._lock(0) == 2
    assert await first._lock(0) == 0
    await second._unlock()
    assert await first._lock(0) == 3


async def test_the_loop_runs_by_itself_and_lets_go_at_its_end(crawl: Crawl) -> None:
    lease = await crawl.one("https://a.com/")
    running = asyncio.create_task(Caretaker(crawl.frontier, tick_s=0.01).run())
    await crawl.settle(lease)

    async def ended() -> bool:
        return (await crawl.frontier.jobs.record("j")).state == "ended"

    await wait_until_async(ended)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert await Caretaker(crawl.frontier)._lock(0) > 0


async def test_a_sweep_of_many_hosts_empties_them_all(crawl: Crawl) -> None:
    await crawl.job(priority=1)
    await crawl.add(*(f"https://www.many{n}.com/{m}" for n in range(400) for m in range(2)))
    await crawl.frontier.jobs.pause("j")
    assert await crawl.lease() == []
    await crawl.frontier.jobs.stop("j")
    await crawl.tend(times=3)
    stats = await crawl.frontier.stats.job("j")
    assert (stats.discarded, stats.queued) == (800, 0)


async def test_parked_queues_come_back_however_many_they_are(crawl: Crawl) -> None:
    await crawl.job()
    await crawl.add(*(f"https://www.many{n}.com/" for n in range(600)))
    await crawl.frontier.jobs.pause("j")
    for _ in range(4):
        assert await crawl.lease() == []
    await crawl.frontier.jobs.resume("j")
    await crawl.tend()
    await crawl.counts_are_right()
    assert sum([len(await crawl.lease(1000)) for _ in range(3)]) == 600


async def test_many_jobs_are_completed_in_turn(crawl: Crawl) -> None:
    for n in range(30):
        await crawl.job(f"job{n}")
        await crawl.add(*pages(f"www.many{n}.com", 1), job=f"job{n}")
    await crawl.settle(*await crawl.lease())
    await crawl.tend(times=2)
    assert await crawl.frontier.jobs.live() == []
