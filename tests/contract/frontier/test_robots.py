"""robots.txt texts: kept once for all workers, pacing their host, with holds while they fail."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from skitter.frontier import Fetch, HostPolicy

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tests.contract.frontier.crawl import Crawl

HOST = "www.site1.com"
ORIGIN = f"https://{HOST}"
DAY_MS = 86_400_000
TEXT = "User-agent: *\nDisallow: /ä\n" * 300


async def test_a_text_is_known_to_every_worker_until_it_is_stale(crawl: Crawl) -> None:
    other = await crawl.worker("w2")
    await crawl.frontier.robots.put(HOST, ORIGIN, TEXT, fresh_ms=DAY_MS, delay_ms=3000)
    found = await other.frontier.robots.get(HOST, ORIGIN)
    assert (found.text, found.fresh_ms, found.delay_ms) == (TEXT, DAY_MS, 3000)
    assert not (await other.frontier.robots.get(HOST, f"http://{HOST}")).fresh_ms
    crawl.clock.step(DAY_MS - 1)
    assert (await other.frontier.robots.get(HOST, ORIGIN)).fresh_ms == 1
    crawl.clock.step(1)
    assert (await other.frontier.robots.get(HOST, ORIGIN)).fresh_ms == 0


async def test_a_text_is_stored_small_and_forgotten_by_the_server(crawl: Crawl) -> None:
    await crawl.frontier.robots.put(HOST, ORIGIN, TEXT, fresh_ms=DAY_MS)
    key = crawl.key(HOST, f"t:{ORIGIN}")
    assert await crawl.raw("MEMORY", "USAGE", key) < 500
    assert 0 < await crawl.raw("PTTL", key) <= DAY_MS


async def test_one_of_many_that_ask_is_to_fetch_it(crawl: Crawl) -> None:
    workers = [crawl, *[await crawl.worker(f"w{n}") for n in range(2, 6)]]
    found = await asyncio.gather(
        *(worker.frontier.robots.get(HOST, ORIGIN, claim_ms=5000) for worker in workers)
    )
    assert sorted(text.busy_ms for text in found) == [0, 5000, 5000, 5000, 5000]


async def test_a_claim_ends_by_itself_by_hand_and_by_an_answer(crawl: Crawl) -> None:
    robots = crawl.frontier.robots
    await robots.get(HOST, ORIGIN, claim_ms=5000)
    crawl.clock.step(5000)
    assert not (await robots.get(HOST, ORIGIN, claim_ms=5000)).busy_ms
    await robots.unclaim(HOST, ORIGIN)
    assert not (await robots.get(HOST, ORIGIN, claim_ms=5000)).busy_ms
    await robots.fail(HOST, ORIGIN, failures=1, wait_ms=10)
    crawl.clock.step(10)
    assert not (await robots.get(HOST, ORIGIN)).busy_ms


async def test_a_claim_ends_with_the_worker_that_made_it_in_its_turn(crawl: Crawl) -> None:
    await crawl.job(robots=True)
    await crawl.add(f"{ORIGIN}/1")
    first = await crawl.worker("dead")
    [_] = await first.lease()
    await first.frontier.robots.get(HOST, ORIGIN, claim_ms=5000)
    assert (await crawl.frontier.robots.get(HOST, ORIGIN, claim_ms=5000)).busy_ms == 5000
    assert await crawl.frontier.reap("dead") == 1
    assert not (await crawl.frontier.robots.get(HOST, ORIGIN, claim_ms=5000)).busy_ms
    assert (await first.frontier.robots.get(HOST, ORIGIN, claim_ms=5000)).busy_ms == 5000


async def test_failures_are_remembered_after_their_wait_is_over(crawl: Crawl) -> None:
    robots = crawl.frontier.robots
    await robots.fail(HOST, ORIGIN, failures=3, wait_ms=7000)
    found = await robots.get(HOST, ORIGIN)
    assert (found.failures, found.fresh_ms) == (3, 7000)
    crawl.clock.step(7000)
    found = await robots.get(HOST, ORIGIN)
    assert (found.failures, found.fresh_ms) == (3, 0)
    await robots.put(HOST, ORIGIN, "", fresh_ms=1000)
    assert (await robots.get(HOST, ORIGIN)).failures == 0


async def test_a_host_is_exclusive_until_its_text_is_kept(crawl: Crawl) -> None:
    await crawl.job(robots=True)
    await crawl.add(*[f"{ORIGIN}/{n}" for n in range(5)])
    [first] = await crawl.lease()
    assert await crawl.lease() == []
    await crawl.frontier.robots.put(HOST, ORIGIN, "", fresh_ms=DAY_MS)
    assert len(await crawl.lease()) == 4
    await crawl.settle(first)


async def test_a_host_is_paced_by_the_slowest_of_its_origins(crawl: Crawl) -> None:
    robots, hosts = crawl.frontier.robots, crawl.frontier.hosts
    assert await robots.put(HOST, ORIGIN, "x", fresh_ms=DAY_MS, delay_ms=2000) == 2000
    assert await robots.put(HOST, f"http://{HOST}", "y", fresh_ms=1000, delay_ms=9000) == 9000
    assert await robots.put(HOST, f"http://{HOST}:8080", "", fresh_ms=DAY_MS) == 9000
    crawl.clock.step(1001)  # the slowest one's text is stale
    assert await robots.put(HOST, f"http://{HOST}:8080", "", fresh_ms=DAY_MS) == 2000
    assert await robots.put(HOST, ORIGIN, "", fresh_ms=DAY_MS) == 0
    assert (await hosts.state(HOST)).crawl_delay_ms == 0


async def test_a_failure_leaves_the_pace_as_it_is(crawl: Crawl) -> None:
    robots = crawl.frontier.robots
    await robots.put(HOST, ORIGIN, "x", fresh_ms=DAY_MS, delay_ms=2000)
    await robots.fail(HOST, ORIGIN, failures=1, wait_ms=1000)
    assert (await crawl.frontier.hosts.state(HOST)).crawl_delay_ms == 2000


async def test_a_held_host_is_not_leased_for_any_egress(
    open_crawl: Callable[..., Awaitable[Crawl]],
) -> None:
    crawl = await open_crawl(delay_ms=1000)
    await crawl.job(robots=True)
    await crawl.add(*[f"{ORIGIN}/{n}" for n in range(5)])
    [first] = await crawl.lease()
    await crawl.frontier.robots.hold(HOST, 20_000)
    fetch = Fetch(status=500, latency_ms=1)
    assert await crawl.frontier.fetched([(first, fetch)]) == [True]
    assert await crawl.frontier.release([first]) == [True]
    crawl.clock.step(19_000)
    assert await crawl.lease(egresses=["direct", "proxy1", "proxy2"]) == []
    crawl.clock.step(1_000)
    [again] = await crawl.lease(egresses=["direct", "proxy1", "proxy2"])
    assert again.request.url == first.request.url


async def test_a_hold_does_not_concern_jobs_that_need_no_robots(crawl: Crawl) -> None:
    await crawl.job()
    await crawl.add(*[f"{ORIGIN}/{n}" for n in range(3)])
    await crawl.frontier.robots.hold(HOST, 20_000)
    assert len(await crawl.lease()) == 3


async def test_a_permit_is_granted_while_the_queue_is_held(crawl: Crawl) -> None:
    await crawl.frontier.robots.hold(HOST, 20_000)
    permit = await crawl.frontier.permit(HOST)
    assert permit.granted
    await crawl.frontier.fetched([(permit, Fetch(status=200))])


async def test_what_a_person_said_of_a_host_stays(crawl: Crawl) -> None:
    await crawl.frontier.hosts.set_policy(HOST, HostPolicy(delay_ms=5000))
    assert await crawl.frontier.robots.put(HOST, ORIGIN, "x", fresh_ms=9, delay_ms=100) == 5000
