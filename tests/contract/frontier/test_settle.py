"""Settlement: children first, then the request: done, tried again, or buried. Once."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from skitter.errors import BadRequest
from skitter.frontier import Fetch, Request, RetryPolicy, Settlement
from tests.contract.frontier.crawl import hosts, pages

if TYPE_CHECKING:
    from tests.contract.frontier.crawl import Crawl


async def test_children_are_queued_and_the_parent_is_done(crawl: Crawl) -> None:
    parent = await crawl.one("https://a.com/")
    children = [Request("j", f"https://{host}/", depth=1) for host in hosts(8)]
    assert await crawl.settle(parent, children=children, page=True) == [True]
    stats = await crawl.frontier.stats.job("j")
    assert (stats.accepted, stats.done, stats.queued, stats.pages) == (9, 1, 8, 1)
    assert {lease.request.depth for lease in await crawl.lease()} == {1}


async def test_twice_is_the_same_as_once(crawl: Crawl) -> None:
    lease = await crawl.one("https://a.com/")
    settlement = Settlement(
        lease,
        fetch=Fetch(latency_ms=1, status=200),
        children=[
            Request("j", "https://a.com/1"),
            Request("j", "https://a.com/", dont_filter=True),
        ],
        page=True,
        figures={"items": 3},
    )
    assert await crawl.frontier.settle([settlement]) == [True]
    before = await crawl.frontier.stats.job("j")
    assert await crawl.frontier.settle([settlement]) == [False]
    assert await crawl.frontier.stats.job("j") == before
    assert (before.done, before.queued, before.figures["items"]) == (1, 2, 3)


async def test_one_token_twice_in_a_batch_counts_once(crawl: Crawl) -> None:
    lease = await crawl.one("https://a.com/")
    assert await crawl.settle(lease, lease, page=True) == [True, False]
    assert (await crawl.frontier.stats.job("j")).pages == 1


async def test_a_stale_token_is_refused_and_its_children_stand(crawl: Crawl) -> None:
    lease = await crawl.one("https://a.com/")
    await crawl.outlast_leases()
    assert await crawl.settle(lease, children=[Request("j", "https://a.com/1")]) == [False]
    stats = await crawl.frontier.stats.job("j")
    assert (stats.done, stats.accepted, stats.queued) == (0, 2, 2)


async def test_the_leases_of_another_worker_cannot_be_settled(crawl: Crawl) -> None:
    lease = await crawl.one("https://a.com/")
    other = await crawl.worker("w2")
    assert await other.settle(lease) == [False]
    assert await crawl.settle(lease) == [True]


async def test_a_mixed_batch_over_many_hosts_is_answered_in_order(crawl: Crawl) -> None:
    await crawl.job()
    await crawl.add(*(url for host in hosts(9) for url in pages(host, 3)))
    leases = await crawl.lease()
    assert len(leases) == 27
    gone = leases[::4]
    assert await crawl.settle(*gone) == [True] * len(gone)
    answers = await crawl.settle(*leases)
    assert answers == [lease not in gone for lease in leases]
    assert (await crawl.frontier.stats.job("j")).done == 27


async def test_a_retry_waits_and_comes_back_with_its_attempts_counted(crawl: Crawl) -> None:
    lease = await crawl.one("https://a.com/", meta={"k": "v"})
    fields = {"outcome": "retry", "reason": "http 500", "error": "boom", "retry_ms": 5000}
    assert await crawl.settle(lease, status=500, **fields) == [True]
    stats = await crawl.frontier.stats.job("j")
    assert (stats.delayed, stats.queued, stats.retries, stats.pending) == (1, 0, 1, 1)
    crawl.clock.step(4990)
    assert await crawl.lease() == []
    crawl.clock.step(10)
    [again] = await crawl.lease()
    assert (again.request.attempts, again.request.crashes) == (1, 0)
    assert again.request.meta == {"k": "v"}
    assert again.token != lease.token
    assert await crawl.frontier.stats.errors("j") == {"http 500 boom": 1}


async def test_a_retry_is_first_in_line(crawl: Crawl) -> None:
    await crawl.job()
    await crawl.add(*pages("a.com", 3))
    [lease] = await crawl.lease(1)
    await crawl.settle(lease, outcome="retry", reason="timeout", retry_ms=1)
    crawl.clock.step(1)
    assert await crawl.lease_urls(1) == ["https://a.com/0"]


async def test_buried_requests_are_dead_letters(crawl: Crawl) -> None:
    lease = await crawl.one("https://a.com/")
    await crawl.settle(lease, status=404, outcome="bury", reason="http 404", error="not found")
    stats = await crawl.frontier.stats.job("j")
    assert (stats.buried, stats.pending) == (1, 0)
    [letter] = await crawl.frontier.dead.find()
    assert (letter.reason, letter.error, letter.attempts) == ("http 404", "not found", 1)
    assert letter.request is not None
    assert letter.request.url == "https://a.com/"


async def test_figures_add_up_over_hosts(crawl: Crawl) -> None:
    await crawl.job()
    await crawl.add(*(f"https://{host}/" for host in hosts(6)))
    leases = await crawl.lease()
    await crawl.settle(*leases, figures={"bytes": 1000, "items": 2})
    assert (await crawl.frontier.stats.job("j")).figures == {"bytes": 6000, "items": 12}


@pytest.mark.parametrize("figures", [{"bytes": 1.5}, {"a": 1}, {"s": 2}, {"items": "3"}, {"": 1}])
async def test_figures_that_cannot_be_counted_are_refused_before_anything_is_done(
    crawl: Crawl, figures: dict[str, int]
) -> None:
    lease = await crawl.one("https://a.com/")
    with pytest.raises(BadRequest, match="figure"):
        await crawl.settle(lease, figures=figures, children=[Request("j", "https://a.com/1")])
    stats = await crawl.frontier.stats.job("j")
    assert (stats.accepted, stats.leased) == (1, 1)
    assert await crawl.settle(lease, figures={"bytes": 10}) == [True]


async def test_errors_that_are_no_clean_text_do_not_hold_up_a_batch(crawl: Crawl) -> None:
    await crawl.job()
    await crawl.add(*pages("a.com", 3))
    leases = await crawl.lease()
    errors = ["bad \ud800 text", "nul \x00 and \U0001f577", "long " * 10_000]
    settlements = [
        Settlement(lease, outcome="bury", reason=error, error=error)
        for lease, error in zip(leases, errors, strict=True)
    ]
    assert await crawl.frontier.settle(settlements) == [True] * 3
    letters = await crawl.frontier.dead.find(job="j")
    assert len(letters) == 3
    assert all(len(letter.error) <= 500 for letter in letters)


async def test_an_error_that_never_repeats_does_not_fill_the_server(crawl: Crawl) -> None:
    await crawl.job()
    await crawl.add(*pages("a.com", 8))
    for n in range(20):
        leases = await crawl.lease()
        settlements = [
            Settlement(lease, outcome="retry", reason="failed", error=f"{n} {i}", retry_ms=0)
            for i, lease in enumerate(leases)
        ]
        await crawl.frontier.settle(settlements)
        crawl.clock.step(1)
    errors = await crawl.frontier.stats.errors("j")
    assert len(errors) == 101
    assert sum(errors.values()) == 160
    assert errors["other"] == 60


async def test_a_settlement_without_a_fetch_leaves_the_clock_alone(polite: Crawl) -> None:
    await polite.job()
    await polite.add(*pages("a.com", 2))
    [lease] = await polite.lease(1)
    await polite.frontier.settle([Settlement(lease)])
    assert len(await polite.lease()) == 1


async def test_workers_settle_side_by_side(crawl: Crawl) -> None:
    await crawl.job()
    await crawl.add(*(url for host in hosts(10) for url in pages(host, 20)))
    workers = [crawl, *[await crawl.worker(f"w{n}") for n in range(2, 5)]]

    async def work(worker: Crawl) -> int:
        done = 0
        for _ in range(200):
            leases = await worker.lease(7)
            done += sum(await worker.settle(*leases, page=True))
            if (await worker.frontier.stats.job("j")).pending == 0:
                break
        return done

    assert sum(await asyncio.gather(*map(work, workers))) == 200
    assert (await crawl.frontier.stats.job("j")).pages == 200


def test_back_off_grows_with_jitter_and_ends() -> None:
    policy = RetryPolicy(max_attempts=4, base_ms=1000, jitter=0.5, base_ms_by_reason=(("dns", 9),))
    for attempts, middle in ((0, 1000), (1, 2000), (2, 4000)):
        waits = {policy.wait_ms(attempts) for _ in range(50)}
        assert len(waits) > 1
        assert all(wait and middle / 2 <= wait <= middle * 1.5 for wait in waits)
    assert policy.wait_ms(3) is None
    assert (policy.wait_ms(0, reason="dns") or 0) < 20
    assert policy.wait_ms(0, retry_after_ms=60_000) == 60_000
