"""Leases in time: kept by renewal, handed back by release, taken back when their worker died."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skitter.frontier import Request
from tests.contract.frontier.crawl import LEASE_MS, hosts, pages

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tests.contract.frontier.crawl import Crawl


async def test_a_renewed_lease_is_kept(crawl: Crawl) -> None:
    lease = await crawl.one("https://a.com/")
    for _ in range(6):
        crawl.clock.step(LEASE_MS // 3)
        assert [r.answer for r in await crawl.frontier.renew([lease])] == ["kept"]
        assert await crawl.frontier.reap() == 0
    assert await crawl.settle(lease) == [True]


async def test_renewal_says_what_became_of_each(crawl: Crawl) -> None:
    for name in ("kept", "paused", "stopped", "settled"):
        await crawl.job(name)
        await crawl.add(f"https://www.{name}.com/", job=name)
    leases = sorted(await crawl.lease(), key=lambda lease: lease.host)
    await crawl.frontier.jobs.pause("paused")
    await crawl.frontier.jobs.stop("stopped")
    await crawl.settle(*[lease for lease in leases if lease.request.job == "settled"])
    renewals = await crawl.frontier.renew(leases)
    said = {lease.request.job: r.answer for lease, r in zip(leases, renewals, strict=True)}
    assert said == {
        "kept": "kept", "paused": "give back", "stopped": "give back", "settled": "gone",
    }  # fmt: skip


async def test_only_a_confirmed_renewal_keeps_a_lease_fresh(crawl: Crawl) -> None:
    kept, gone = await crawl.one("https://a.com/1"), await crawl.one("https://a.com/2")
    await crawl.settle(gone)
    for lease in (kept, gone):
        lease.confirmed_ms -= 28_000
        assert not crawl.frontier.fresh(lease)
    await crawl.frontier.renew([kept, gone])
    assert crawl.frontier.fresh(kept)
    assert not crawl.frontier.fresh(gone)


async def test_released_requests_go_first_and_count_nothing(polite: Crawl) -> None:
    await polite.job()
    await polite.add(*pages("a.com", 9))
    batch = await polite.lease()
    assert await polite.frontier.release(batch) == [True] * 5
    assert await polite.frontier.release(batch) == [False] * 5
    other = await polite.worker("w2")
    again = await other.lease()
    assert [lease.request.url for lease in again] == pages("a.com", 5)
    assert {(lease.request.attempts, lease.request.crashes) for lease in again} == {(0, 0)}


async def test_release_of_a_part_keeps_the_turn(polite: Crawl) -> None:
    await polite.job()
    await polite.add(*pages("a.com", 9))
    batch = await polite.lease()
    await polite.frontier.release(batch[2:])
    assert await polite.lease() == []
    await polite.settle(*batch[:2])
    polite.clock.step(1000)
    assert await polite.lease_urls() == [f"https://a.com/{n}" for n in range(2, 7)]


async def test_a_lease_that_ran_out_goes_to_another_worker(crawl: Crawl) -> None:
    lease = await crawl.one("https://a.com/")
    crawl.clock.step(LEASE_MS // 2)
    assert await crawl.frontier.reap() == 0
    crawl.clock.step(LEASE_MS // 2)
    assert await crawl.frontier.reap() == 1
    other = await crawl.worker("w2")
    [again] = await other.lease()
    assert (again.request.attempts, again.request.crashes) == (0, 1)
    assert await crawl.settle(lease) == [False]
    assert [r.answer for r in await crawl.frontier.renew([lease])] == ["gone"]
    assert await other.settle(again) == [True]
    assert (await crawl.frontier.stats.job("j")).crashes == 1


async def test_a_leap_in_time_does_not_take_leases_away(crawl: Crawl) -> None:
    """A server that was asleep gives workers one lease time to renew."""
    lease = await crawl.one("https://a.com/")
    crawl.clock.step(3_600_000)
    assert await crawl.frontier.reap() == 0
    assert [r.answer for r in await crawl.frontier.renew([lease])] == ["kept"]
    for _ in range(3):
        crawl.clock.step(LEASE_MS // 2 - 1)
        await crawl.frontier.renew([lease])
        assert await crawl.frontier.reap() == 0
    assert await crawl.settle(lease) == [True]


async def test_after_a_leap_leases_of_the_dead_are_taken_one_lease_later(crawl: Crawl) -> None:
    await crawl.one("https://a.com/")
    crawl.clock.step(3_600_000)
    assert await crawl.frontier.reap() == 0
    for _ in range(2):
        crawl.clock.step(LEASE_MS // 2)
        reaped = await crawl.frontier.reap()
    assert reaped == 1


async def test_a_worker_that_is_known_to_be_dead_is_reaped_at_once(crawl: Crawl) -> None:
    await crawl.job()
    await crawl.add(*(url for host in hosts(6) for url in pages(host, 4)))
    dead, alive = await crawl.worker("dead"), await crawl.worker("alive")
    lost = await dead.lease(12)
    kept = await alive.lease(12)
    assert len(lost) == len(kept) == 12
    assert await crawl.frontier.reap("dead") == 12
    assert await dead.settle(*lost) == [False] * 12
    assert await alive.settle(*kept) == [True] * 12
    assert (await crawl.frontier.stats.job("j")).queued == 12


async def test_a_reaped_hosts_clock_starts_at_reap_time(polite: Crawl) -> None:
    await polite.job()
    await polite.add(*pages("a.com", 2))
    await polite.lease(1)
    polite.clock.step(10_000)
    assert await polite.frontier.reap("w1") == 1
    polite.clock.step(999)
    assert await polite.lease() == []
    polite.clock.step(1)
    assert len(await polite.lease()) == 2


async def test_more_than_a_page_of_leases_is_reaped(
    open_crawl: Callable[..., Awaitable[Crawl]],
) -> None:
    crawl = await open_crawl(concurrency=2000)
    await crawl.job()
    await crawl.add(*pages("a.com", 1100))
    assert len(await crawl.lease(1100)) == 1000
    crawl.clock.step(1)
    assert len(await crawl.lease(1100)) == 100
    assert await crawl.frontier.reap("w1") == 1100
    assert (await crawl.frontier.stats.job("j")).queued == 1100


async def test_a_page_that_kills_workers_is_leased_alone_and_then_buried(crawl: Crawl) -> None:
    await crawl.job()
    await crawl.add("https://a.com/killer", "https://b.org/innocent")
    deaths = 0
    while not await crawl.frontier.dead.count():
        worker = await crawl.worker(f"victim{deaths}")
        leases = await worker.lease(10)
        killers = [lease for lease in leases if lease.request.url.endswith("killer")]
        if deaths >= 2 and killers:
            assert killers[0].alone
            assert len(leases) == 1
        if not killers:
            await worker.settle(*leases)
            continue
        await crawl.frontier.reap(worker.frontier.worker)
        deaths += 1
        crawl.clock.step(1000)
    assert deaths == 11
    [letter] = await crawl.frontier.dead.find()
    assert (letter.reason, letter.crashes) == ("crashed", 11)
    assert await crawl.finish_all() == "finished"
    assert (await crawl.frontier.stats.job("j")).done == 1


async def test_what_was_released_or_reaped_after_its_job_ended_is_discarded(crawl: Crawl) -> None:
    await crawl.job()
    await crawl.add(*pages("a.com", 4))
    leases = await crawl.lease()
    await crawl.frontier.jobs.stop("j")
    await crawl.frontier.release(leases[:1])
    await crawl.settle(leases[1], outcome="retry", reason="late")
    await crawl.settle(leases[2], children=[Request("j", "https://a.com/child")])
    await crawl.frontier.reap("w1")
    stats = await crawl.frontier.stats.job("j")
    assert (stats.done, stats.discarded, stats.pending) == (1, 3, 0)
