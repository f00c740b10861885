"""Limits: scope, depth, requests per host, and a page quota that many workers keep exactly."""

from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING

import pytest

from skitter.frontier import Request, Scope
from tests.contract.frontier.crawl import hosts, pages

if TYPE_CHECKING:
    from skitter.frontier import Lease
    from tests.contract.frontier.crawl import Crawl


async def test_what_is_out_of_scope_is_refused_by_reason(crawl: Crawl) -> None:
    scope = Scope(
        allowed_domains=("a.com",), allow=("/shop/",), deny=("/cart",), deny_extensions=(".pdf",)
    )
    await crawl.job(scope=scope, max_depth=2)
    added = await crawl.frontier.add(
        [
            Request("j", "https://www.a.com/shop/1"),
            Request("j", "https://b.org/shop/1"),
            Request("j", "https://nota.com/shop/1"),
            Request("j", "https://a.com/shop/cart"),
            Request("j", "https://a.com/about"),
            Request("j", "https://a.com/shop/list.PDF?x=1"),
            Request("j", "https://a.com/shop/deep", depth=2),
            Request("j", "https://a.com/shop/deeper", depth=3),
        ]
    )
    assert added.results == [
        "new",
        "out of scope: domain",
        "out of scope: domain",
        "out of scope: denied",
        "out of scope: not allowed",
        "out of scope: extension",
        "new",
        "out of scope: depth",
    ]


async def test_a_host_takes_no_more_than_its_share_of_a_job(crawl: Crawl) -> None:
    await crawl.job(max_per_host=3)
    added = await crawl.add(*pages("a.com", 5), *pages("b.org", 2))
    assert (added.new, added.refused) == (5, {"host budget": 2})
    again = await crawl.add(*pages("a.com", 5), "https://b.org/2", "https://b.org/3")
    assert again.results == ["known"] * 3 + ["host budget"] * 2 + ["new", "host budget"]


async def test_the_share_of_a_host_is_exact_among_workers(crawl: Crawl) -> None:
    await crawl.job(max_per_host=50)
    workers = [crawl, *[await crawl.worker(f"w{n}") for n in range(2, 6)]]
    added = await asyncio.gather(
        *(w.add(*(f"https://a.com/{n}/{i}" for i in range(30))) for n, w in enumerate(workers))
    )
    assert sum(a.new for a in added) == 50


@pytest.mark.parametrize("limit", [1, 7, 100])
async def test_the_page_limit_is_exact_with_several_workers(crawl: Crawl, limit: int) -> None:
    await crawl.job(max_pages=limit)
    await crawl.add(*(url for host in hosts(10) for url in pages(host, 25)))
    workers = [crawl, *[await crawl.worker(f"w{n}") for n in range(2, 5)]]
    dice = random.Random(limit)
    pages_given = 0
    for _ in range(400):
        rounds = await asyncio.gather(*(worker.lease(dice.randint(1, 9)) for worker in workers))
        leases = [lease for part in rounds for lease in part]
        assert pages_given + len(leases) <= limit
        for worker, part in zip(workers, rounds, strict=True):
            pages_given += await _work(worker, part, dice)
        if not leases:
            await crawl.tend()
        if (await crawl.frontier.jobs.record("j")).state == "ended":
            break
        crawl.clock.step(50)
    record = await crawl.frontier.jobs.record("j")
    assert (record.outcome, pages_given) == ("limit reached", limit)
    assert (await crawl.frontier.stats.job("j")).pages == limit


async def _work(worker: Crawl, leases: list[Lease], dice: random.Random) -> int:
    """Settle some as pages, retry, release or lose the others; how many pages were given."""
    given = 0
    for lease in leases:
        fate = dice.random()
        if fate < 0.6:
            given += sum(await worker.settle(lease, page=True))
        elif fate < 0.7:
            await worker.settle(lease)
        elif fate < 0.8:
            await worker.settle(lease, outcome="retry", reason="later", retry_ms=10)
        elif fate < 0.9:
            await worker.frontier.release([lease])
        else:
            await worker.frontier.reap(worker.frontier.worker)
            break
    return given


async def test_a_request_that_gave_no_page_leaves_its_quota_to_others(crawl: Crawl) -> None:
    await crawl.job(max_pages=1)
    await crawl.add(*pages("a.com", 3))
    [first] = await _leased(crawl)
    assert await crawl.lease() == []
    assert await crawl.lease() == []
    await crawl.settle(first, outcome="bury", reason="http 404")
    [second] = await _leased(crawl)
    await crawl.settle(second, page=True)
    await crawl.tend(times=2)
    assert (await crawl.frontier.jobs.record("j")).outcome == "limit reached"


async def test_quota_goes_to_the_shard_that_has_work(crawl: Crawl) -> None:
    await crawl.job(max_pages=4)
    for host in hosts(12):
        await crawl.add(f"https://{host}/")
    assert await crawl.finish_all() == "limit reached"
    assert (await crawl.frontier.stats.job("j")).pages == 4


async def test_a_job_with_less_work_than_quota_finishes(crawl: Crawl) -> None:
    await crawl.job(max_pages=1000)
    await crawl.add(*(f"https://{host}/" for host in hosts(6)))
    assert await crawl.finish_all() == "finished"
    assert (await crawl.frontier.stats.job("j")).pages == 6


async def _leased(crawl: Crawl) -> list[Lease]:
    """Quota comes to a shard when a lease asks for it: the next lease has it."""
    for _ in range(5):
        if leases := await crawl.lease():
            return leases
        await crawl.tend()
    return []
