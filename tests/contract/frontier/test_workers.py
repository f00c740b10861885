"""Heartbeats: what workers say of themselves, while they say it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.wait import wait_until_async

if TYPE_CHECKING:
    from tests.contract.frontier.crawl import Crawl


async def test_workers_are_listed_by_name_with_what_they_said_last(crawl: Crawl) -> None:
    workers = crawl.frontier.workers
    assert await workers.list() == []
    assert await workers.beat("b.1", {"state": "starting", "lanes": []}) == 1
    assert await workers.beat("a.1", {"state": "running", "rates": {"x": 1.5}}) == 2
    await workers.beat("b.1", {"state": "running"})
    assert await workers.list() == [
        {"name": "a.1", "state": "running", "rates": {"x": 1.5}},
        {"name": "b.1", "state": "running"},
    ]
    await workers.forget("a.1")
    await workers.forget("b.1")
    assert await workers.list() == []


async def test_a_worker_that_says_nothing_is_forgotten(crawl: Crawl) -> None:
    workers = crawl.frontier.workers
    await workers.beat("quiet", {"state": "running"}, ttl_ms=50)
    await wait_until_async(lambda: _gone(crawl), what="its time is over")
    crawl.clock.step(100)
    assert await workers.beat("b", {}) == 1
    await workers.forget("b")


async def _gone(crawl: Crawl) -> bool:
    return await crawl.frontier.workers.list() == []


async def test_one_that_went_without_a_word_is_lost_and_one_that_said_goodbye_is_not(
    crawl: Crawl,
) -> None:
    workers = crawl.frontier.workers
    for name in ("silent", "dead", "gone", "parted"):
        await workers.beat(name, {}, ttl_ms=1000)
    await workers.forget("gone")
    await workers.forget("gone", dead=True)  # its supervisor sees its end, too
    await workers.forget("dead", dead=True)
    assert await workers.lost(within_ms=60_000) == {"dead": 0}
    crawl.clock.step(3000)
    assert await workers.lost(within_ms=60_000) == {"dead": 3000, "parted": 2000, "silent": 2000}
    await workers.beat("parted", {}, ttl_ms=1000)  # it was only cut off
    assert set(await workers.lost(within_ms=2500)) == {"silent"}
    crawl.clock.step(80_000_000)
    assert await workers.lost(within_ms=100_000_000) == {
        "dead": 80_003_000,
        "parted": 79_999_000,
        "silent": 80_002_000,
    }
    crawl.clock.step(6_400_000)
    assert set(await workers.lost(within_ms=100_000_000)) == {"parted"}
    for name in ("silent", "dead", "parted"):
        await workers.forget(name)
