"""Turns: exact gaps, egresses, permits, live policy, budgets, and a pace that adapts."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from skitter.frontier import Fetch, HostPolicy, Settlement
from tests.contract.frontier.crawl import hosts, pages

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from skitter.frontier import Lease
    from tests.contract.frontier.crawl import Crawl

ALWAYS_MS = 10**9


async def test_a_host_with_a_delay_gives_one_batch_to_one_worker(polite: Crawl) -> None:
    await polite.job()
    await polite.add(*pages("a.com", 12))
    other = await polite.worker("w2")
    batch = await polite.lease()
    assert [lease.request.url for lease in batch] == pages("a.com", 5)
    assert await other.lease() == []
    for lease in batch[:-1]:
        await polite.settle(lease)
        polite.clock.step(1000)
        assert await other.lease() == []
    await polite.settle(batch[-1])
    polite.clock.step(999)
    assert await other.lease() == []
    polite.clock.step(1)
    assert len(await other.lease()) == 5


async def test_the_gap_runs_from_the_arrival_of_the_head(polite: Crawl) -> None:
    await polite.job()
    await polite.add(*pages("a.com", 2))
    [lease] = await polite.lease(1)
    polite.clock.step(5000)
    await polite.settle(lease, fetch=Fetch(ago_ms=300, latency_ms=100, status=200))
    polite.clock.step(699)
    assert await polite.lease() == []
    polite.clock.step(1)
    assert len(await polite.lease()) == 1


async def test_a_turn_ends_with_the_fetch_and_not_with_the_settlement(polite: Crawl) -> None:
    await polite.job()
    await polite.add(*pages("a.com", 2))
    [slow] = await polite.lease(1)
    assert await polite.frontier.fetched([(slow, Fetch(latency_ms=10, status=200))]) == [True]
    polite.clock.step(1000)
    assert await polite.lease_urls() == ["https://a.com/1"]
    assert await polite.frontier.settle([Settlement(slow)]) == [True]


async def test_fetched_twice_counts_once(polite: Crawl) -> None:
    lease = await polite.one("https://a.com/1")
    fetch = Fetch(latency_ms=10, status=200)
    assert await polite.frontier.fetched([(lease, fetch)]) == [True]
    assert await polite.frontier.fetched([(lease, fetch)]) == [True]
    state = await polite.frontier.hosts.state("a.com")
    assert (state.fetched, state.fetching) == (1, 0)


async def test_a_slow_host_is_asked_less_often(polite: Crawl) -> None:
    await polite.job()
    await polite.add(*pages("a.com", 3))
    [lease] = await polite.lease(1)
    await polite.settle(lease, fetch=Fetch(latency_ms=4000, status=200))
    polite.clock.step(3999)
    assert await polite.lease() == []
    polite.clock.step(1)
    assert len(await polite.lease()) == 1  # five seconds' worth at a gap of four


async def test_a_host_without_a_delay_gives_turns_up_to_its_concurrency(
    open_crawl: Callable[..., Awaitable[Crawl]],
) -> None:
    crawl = await open_crawl(concurrency=3)
    await crawl.job()
    await crawl.add(*pages("a.com", 10))
    other = await crawl.worker("w2")
    [first, *_] = await crawl.lease(2)
    assert len(await other.lease()) == 1
    assert await crawl.lease() == []
    await crawl.settle(first)
    assert len(await other.lease()) == 1
    assert await other.lease() == []


async def test_workers_together_never_pass_a_hosts_concurrency(
    open_crawl: Callable[..., Awaitable[Crawl]],
) -> None:
    crawl = await open_crawl(concurrency=2)
    await crawl.job()
    await crawl.add(*(url for host in hosts(6) for url in pages(host, 8)))
    workers = [crawl, *[await crawl.worker(f"w{n}") for n in range(2, 5)]]
    done = 0
    while done < 48:
        rounds = await asyncio.gather(*(worker.lease(5) for worker in workers))
        for host in hosts(6):
            assert sum(lease.host == host for part in rounds for lease in part) <= 2
        for worker, part in zip(workers, rounds, strict=True):
            await worker.settle(*part)
            done += len(part)
        crawl.clock.step(1)


async def test_a_host_is_exclusive_until_its_robots_txt_is_known(crawl: Crawl) -> None:
    await crawl.job(robots=True)
    await crawl.add(*pages("a.com", 5))
    [lease] = await crawl.lease()
    assert await crawl.lease() == []
    await crawl.settle(lease)
    [lease] = await crawl.lease()
    await crawl.frontier.hosts.set_policy("a.com", HostPolicy(robots_ms=ALWAYS_MS))
    assert len(await crawl.lease()) == 3


async def test_each_egress_has_a_clock_and_a_turn_of_its_own(polite: Crawl) -> None:
    await polite.job()
    assert await polite.lease(egresses=["direct", "proxy1"]) == []  # both are known from now on
    await polite.add(*pages("a.com", 30))
    first = await polite.lease(egresses=["direct"])
    assert await polite.lease(egresses=["direct"]) == []
    polite.clock.step(1)
    second = await polite.lease(egresses=["direct", "proxy1"])
    assert {lease.egress for lease in first} == {"direct"}
    assert {lease.egress for lease in second} == {"proxy1"}
    await polite.settle(*second)
    polite.clock.step(1000)
    assert await polite.lease(egresses=["direct"]) == []
    assert len(await polite.lease(egresses=["direct", "proxy1"])) == 5


async def test_a_permit_takes_the_turn_and_sets_the_clock(polite: Crawl) -> None:
    await polite.job()
    await polite.add(*pages("a.com", 2))
    permit = await polite.frontier.permit("a.com")
    assert permit.granted
    assert permit.delay_ms == 1000
    assert await polite.lease() == []
    assert not (await polite.frontier.permit("a.com")).granted
    assert await polite.frontier.fetched([(permit, Fetch(latency_ms=5, status=200))]) == [True]
    assert await polite.lease() == []
    waiting = await polite.frontier.permit("a.com")
    assert waiting.wait_ms == 1000
    polite.clock.step(1000)
    assert (await polite.frontier.permit("a.com")).granted


async def test_a_denied_permit_has_the_next_turn(polite: Crawl) -> None:
    await polite.job()
    await polite.add(*pages("a.com", 9))
    [lease] = await polite.lease(1)
    await polite.settle(lease)
    denied = await polite.frontier.permit("a.com")
    polite.clock.step(denied.wait_ms)
    assert await polite.lease() == []
    permit = await polite.frontier.permit("a.com")
    assert permit.granted
    await polite.frontier.release([permit])
    polite.clock.step(500)
    assert len(await polite.lease()) == 5


async def test_a_denied_permit_that_nobody_asks_for_again_holds_nothing_up(polite: Crawl) -> None:
    await polite.job()
    await polite.add(*pages("a.com", 9))
    [lease] = await polite.lease(1)
    denied = await polite.frontier.permit("a.com")
    await polite.settle(lease)
    polite.clock.step(denied.wait_ms + 1000)
    assert len(await polite.lease()) == 5


async def test_a_permit_of_a_worker_that_died_is_reaped(polite: Crawl) -> None:
    await polite.job()
    await polite.add("https://a.com/")
    assert (await polite.frontier.permit("a.com")).granted
    await polite.outlast_leases()
    polite.clock.step(1000)
    assert await polite.lease_urls() == ["https://a.com/"]


@pytest.mark.parametrize("granted", [True, False])
async def test_a_host_known_only_by_permits_is_forgotten_in_time(
    polite: Crawl, granted: bool
) -> None:
    permit = await polite.frontier.permit("a.com")
    if granted:
        await polite.frontier.fetched([(permit, Fetch(latency_ms=5, status=200))])
    else:
        await polite.frontier.release([permit])
    assert await polite.raw("PTTL", polite.key("a.com", "h:a.com")) != -1


async def test_a_policy_holds_from_the_next_turn_and_renewals_tell_it(polite: Crawl) -> None:
    await polite.job()
    await polite.add(*pages("a.com", 20))
    batch = await polite.lease()
    assert await polite.frontier.hosts.set_policy("a.com", HostPolicy(delay_ms=2500)) == 2500
    renewals = await polite.frontier.renew(batch)
    assert [(r.answer, r.delay_ms) for r in renewals] == [("kept", 2500)] * 5
    await polite.settle(*batch)
    polite.clock.step(2499)
    assert await polite.lease() == []
    polite.clock.step(1)
    assert len(await polite.lease()) == 2


async def test_a_host_that_turns_delayed_waits_for_outstanding_turns(crawl: Crawl) -> None:
    await crawl.job()
    await crawl.add(*pages("a.com", 20))
    out = await crawl.lease(4)
    await crawl.frontier.hosts.set_policy("a.com", HostPolicy(crawl_delay_ms=1000))
    for lease in out:
        crawl.clock.step(2000)
        assert await crawl.lease() == []
        await crawl.settle(lease)
    crawl.clock.step(1000)
    assert len(await crawl.lease()) == 5


async def test_a_crawl_delay_only_slows_a_host_down(polite: Crawl) -> None:
    hosts_ = polite.frontier.hosts
    assert await hosts_.set_policy("a.com", HostPolicy(crawl_delay_ms=200)) == 1000
    assert await hosts_.set_policy("a.com", HostPolicy(crawl_delay_ms=7000)) == 7000


async def test_a_policy_can_lift_the_delay(polite: Crawl) -> None:
    await polite.job()
    await polite.add(*pages("a.com", 20))
    assert len(await polite.lease(1)) == 1
    policy = HostPolicy(delay_ms=0, concurrency=4)
    assert await polite.frontier.hosts.set_policy("a.com", policy) == 0
    assert len(await polite.lease()) == 3
    assert await polite.frontier.hosts.clear_policy("a.com") == 1000


async def test_a_blocked_host_is_not_leased_until_it_is_unblocked(crawl: Crawl) -> None:
    await crawl.job()
    await crawl.add("https://a.com/", "https://b.org/")
    await crawl.frontier.hosts.set_policy("a.com", HostPolicy(blocked=True))
    assert await crawl.lease_urls() == ["https://b.org/"]
    assert (await crawl.frontier.hosts.state("a.com")).blocked
    await crawl.frontier.hosts.set_policy("a.com", HostPolicy(blocked=False))
    assert await crawl.lease_urls() == ["https://a.com/"]


async def test_a_policy_outlives_an_idle_host(polite: Crawl) -> None:
    """A host that nobody asks is forgotten in time, what a person said about it is not."""
    lease = await polite.one("https://a.com/")
    await polite.settle(lease)
    key = polite.key("a.com", "h:a.com")
    assert await polite.raw("PTTL", key) > 0
    await polite.frontier.hosts.set_policy("a.com", HostPolicy(delay_ms=9000))
    assert await polite.raw("PTTL", key) == -1
    await polite.frontier.hosts.clear_policy("a.com")
    assert await polite.raw("PTTL", key) > 0
    await polite.frontier.hosts.set_policy("a.com", HostPolicy(blocked=True))
    assert await polite.raw("PTTL", key) == -1


async def test_a_hosts_budget_bounds_the_requests_in_its_window(crawl: Crawl) -> None:
    await crawl.job()
    await crawl.add(*pages("a.com", 20))
    await crawl.frontier.hosts.set_policy("a.com", HostPolicy(budget=3, budget_ms=10_000))
    first = await crawl.lease(2)
    await crawl.settle(*first)
    second = await crawl.lease()
    assert len(second) == 1
    await crawl.settle(*second)
    crawl.clock.step(9_990)
    assert await crawl.lease() == []
    crawl.clock.step(10)
    assert len(await crawl.lease()) == 3


async def test_of_several_jobs_the_most_polite_sets_the_pace(crawl: Crawl) -> None:
    await crawl.job("fast", delay_s=0.5)
    await crawl.job("slow", delay_s=2.0)
    await crawl.add(*pages("a.com", 30), job="fast")
    assert {lease.delay_ms for lease in await crawl.lease(1)} == {500}
    await crawl.add("https://a.com/slow", job="slow")
    state = await crawl.raw("HGET", crawl.key("a.com", "h:a.com"), "jd")
    assert int(state) == 2000


@pytest.mark.parametrize("status", [429, 503])
async def test_a_refusal_halves_the_rate_and_it_recovers_slowly(polite: Crawl, status: int) -> None:
    await polite.job()
    await polite.add(*pages("a.com", 99))
    [lease] = await polite.lease(1)
    await polite.settle(lease, status=status)
    assert await _adaptive(polite) == 2000
    [lease] = await _next(polite)
    await polite.settle(lease, status=status)
    assert await _adaptive(polite) == 4000
    seen = [4000]
    while seen[-1]:
        [lease] = await _next(polite)
        await polite.settle(lease)
        seen.append(await _adaptive(polite))
        assert seen[-1] < seen[-2]
    assert 10 < len(seen) < 20  # a twentieth of the normal rate at a time


async def test_retry_after_is_honoured_to_its_bound(
    open_crawl: Callable[..., Awaitable[Crawl]],
) -> None:
    crawl = await open_crawl(delay_ms=1000, max_retry_after_ms=60_000)
    await crawl.job()
    await crawl.add(*pages("a.com", 5))
    [lease] = await crawl.lease(1)
    await crawl.settle(lease, fetch=Fetch(latency_ms=5, status=503, retry_after_ms=10_000))
    crawl.clock.step(9_999)
    assert await crawl.lease() == []
    crawl.clock.step(1)
    [lease] = await crawl.lease(1)
    await crawl.settle(lease, fetch=Fetch(latency_ms=5, status=503, retry_after_ms=10**9))
    state = await crawl.frontier.hosts.state("a.com")
    assert state.clock_ms == crawl.clock.now_ms + 60_000


async def test_a_clock_from_another_time_is_not_believed(polite: Crawl) -> None:
    await polite.job()
    await polite.add("https://a.com/")
    far_ms = polite.clock.now_ms + 10**11
    await polite.raw("HSET", polite.key("a.com", "h:a.com"), "c", far_ms)
    denied = await polite.frontier.permit("a.com")
    assert denied.wait_ms == polite.frontier.config.max_retry_after_ms


async def test_time_never_goes_back(polite: Crawl) -> None:
    await polite.job()
    await polite.add(*pages("a.com", 2))
    [lease] = await polite.lease(1)
    await polite.settle(lease)
    polite.clock.step(-3_600_000)
    assert await polite.lease() == []
    polite.clock.step(999)
    assert await polite.lease() == []
    polite.clock.step(1)
    assert len(await polite.lease()) == 1


async def _adaptive(crawl: Crawl) -> int:
    return (await crawl.frontier.hosts.state("a.com")).adaptive_delay_ms


async def _next(crawl: Crawl) -> list[Lease]:
    state = await crawl.frontier.hosts.state("a.com")
    crawl.clock.step(state.clock_ms - crawl.clock.now_ms)
    return await crawl.lease(1)
