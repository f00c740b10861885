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
