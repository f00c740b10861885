"""Which lanes there are, and which have work."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skitter.frontier import lane_of
from tests.contract.frontier.crawl import hosts

if TYPE_CHECKING:
    from tests.contract.frontier.crawl import Crawl


async def test_lanes_of_all_live_jobs_are_learnt_with_their_spiders(crawl: Crawl) -> None:
    for n in range(20):
        await crawl.job(f"j{n}", spider=f"s{n % 3}", args={"x": "1"} if n % 2 else {})
    specs = await crawl.frontier.lanes.learn()
    assert {(spec.spider, bool(spec.args)) for spec in specs.values()} == {
        (f"s{n}", args) for n in range(3) for args in (True, False)
    }
    assert all(lane == lane_of(spec.spider, spec.args) for lane, spec in specs.items())


async def test_a_later_look_adds_what_is_new_and_one_anew_drops_what_ended(crawl: Crawl) -> None:
    lanes = crawl.frontier.lanes
    await crawl.job("a", spider="a")
    assert set(await lanes.learn()) == {lane_of("a")}
    await crawl.job("b", spider="b")  # in the same moment as the first
    crawl.clock.step(10)
    await crawl.job("c", spider="c")
    assert set(await lanes.learn()) == {lane_of(name) for name in "abc"}
    await crawl.frontier.jobs.stop("b")
    assert lane_of("b") in await lanes.learn()
    assert set(await lanes.learn(anew=True)) == {lane_of("a"), lane_of("c")}


async def test_ready_lanes_are_those_with_something_queued(crawl: Crawl) -> None:
    await crawl.job("a", spider="a")
    await crawl.job("b", spider="b")
    lanes = [lane_of("a"), lane_of("b")]
    assert await crawl.frontier.lanes.ready(lanes) == {}
    await crawl.add(*(f"https://{host}/" for host in hosts(5)), job="b")
    assert await crawl.frontier.lanes.ready(lanes) == {lane_of("b"): 0}
    assert await crawl.frontier.lanes.ready([]) == {}


async def test_ready_says_how_long_until_the_first_host(polite: Crawl) -> None:
    lease = await polite.one("https://www.site0.com/1")
    await polite.add("https://www.site0.com/2")
    await polite.settle(lease)
    assert await polite.lease_urls() == []  # times are lower bounds until a lease looks
    waits = await polite.frontier.lanes.ready([lane_of("spider")])
    assert 900 <= waits[lane_of("spider")] <= 1001


async def test_some_shards_alone_can_be_asked(crawl: Crawl) -> None:
    await crawl.job()
    await crawl.add("https://www.site0.com/")
    lane, count = lane_of("spider"), crawl.frontier.shards.count
    found = [n for n in range(count) if await crawl.frontier.lanes.ready([lane], shards=[n])]
    assert len(found) == 1


async def test_what_waits_for_another_try_becomes_ready_without_a_lease(crawl: Crawl) -> None:
    lease = await crawl.one("https://www.site0.com/")
    await crawl.settle(lease, outcome="retry", retry_ms=5000, reason="http 500", status=500)
    lane = lane_of("spider")
    assert await crawl.frontier.lanes.ready([lane]) == {}
    crawl.clock.step(5001)
    assert lane in await crawl.frontier.lanes.ready([lane])
    await crawl.counts_are_right()
    assert await crawl.lease_urls() == ["https://www.site0.com/"]


async def test_a_paused_jobs_lane_is_not_ready_for_long(crawl: Crawl) -> None:
    await crawl.job()
    await crawl.add("https://www.site0.com/")
    await crawl.frontier.jobs.pause("j")
    assert await crawl.lease_urls() == []
    assert await crawl.frontier.lanes.ready([lane_of("spider")]) == {}


async def test_a_worker_can_keep_to_some_hosts(crawl: Crawl) -> None:
    await crawl.job()
    names = hosts(40)
    await crawl.add(*(f"https://{host}/" for host in names))
    frontier, lane = crawl.frontier, lane_of("spider")
    frontier.keep_to(["www.site7.com", "WWW.site9.com"])
    assert await frontier.lanes.ready([lane], hosts=frontier.only_hosts) == {lane: 0}
    urls = {"https://www.site7.com/", "https://www.site9.com/"}
    leases = await crawl.lease()
    assert {lease.request.url for lease in leases} == urls
    assert await frontier.lanes.ready([lane], hosts=frontier.only_hosts) == {}
    nothing = await frontier.lease([lane], count=10)
    assert nothing.leases == []
    assert nothing.retry_ms > 10  # though the others are ready
    await crawl.settle(*leases)
    frontier.keep_to([])
    assert len(await crawl.lease()) == 38
