"""What waits for workers, and what for its hosts' pace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skitter.frontier import lane_of
from skitter.frontier.pressure import Depth, LiveJob, Pressure, Waiting
from tests.contract.frontier.crawl import hosts

if TYPE_CHECKING:
    from tests.contract.frontier.crawl import Crawl

LANES = [lane_of("spider")]


async def test_hosts_that_nobody_asks_are_ready_and_those_in_hand_are_not(polite: Crawl) -> None:
    pressure = Pressure(polite.frontier.shards)
    await polite.job()
    assert await pressure.waiting(LANES) == Waiting(0, 0, None)
    await polite.add(*(f"https://{host}/{n}" for host in hosts(10) for n in range(20)))
    polite.clock.step(4000)
    assert await pressure.waiting(LANES) == Waiting(10, 4000, 0)
    assert await pressure.waiting([lane_of("other")]) == Waiting(0, 0, None)
    leases = await polite.lease(100)
    assert len({lease.host for lease in leases}) == 10
    # All ten are with a worker, however much is queued: more workers would have nothing to do.
    found = await pressure.waiting(LANES)
    assert found.ready_hosts == 0
    assert found.next_ms is not None
    assert found.next_ms > 0


async def test_a_host_that_rests_is_not_ready(polite: Crawl) -> None:
    pressure = Pressure(polite.frontier.shards)
    lease = await polite.one("https://www.site0.com/1")
    await polite.add("https://www.site0.com/2")
    await polite.settle(lease)
    await polite.lease_urls()  # times are lower bounds until a lease looks
    found = await pressure.waiting(LANES)
    assert found.ready_hosts == 0
    assert found.next_ms in range(900, 1002)
    polite.clock.step(1500)
    assert (await pressure.waiting(LANES)).ready_hosts == 1


async def test_what_is_to_be_tried_again_counts_when_its_time_has_come(crawl: Crawl) -> None:
    pressure = Pressure(crawl.frontier.shards)
    lease = await crawl.one("https://www.site0.com/1")
    await crawl.settle(lease, outcome="retry", retry_ms=5000)
    assert await pressure.waiting(LANES) == Waiting(0, 0, 5000)
    crawl.clock.step(5000)
    assert (await pressure.waiting(LANES)).ready_hosts == 1
    [job] = await pressure.jobs()
    assert (await pressure.depths([job]))["j"].delayed == 0


async def test_the_counters_of_all_live_jobs(crawl: Crawl) -> None:
    pressure = Pressure(crawl.frontier.shards)
    for name in ("a", "b", "c"):
        await crawl.job(name, spider=f"s{name}")
    await crawl.add(*(f"https://{host}/" for host in hosts(9)), job="b")
    jobs = await pressure.jobs()
    assert {(job.id, job.spider, job.lane) for job in jobs} == {
        (name, f"s{name}", lane_of(f"s{name}")) for name in "abc"
    }
    depths = await pressure.depths(jobs)
    assert depths["a"] == Depth()
    assert depths["b"] == Depth(queued=9, accepted=9)
    assert depths["b"].pending == 9
    await crawl.frontier.jobs.stop("b")
    assert {job.id for job in await pressure.jobs()} == {"a", "c"}
    assert isinstance((await pressure.jobs())[0], LiveJob)
