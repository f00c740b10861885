"""Children of one page that come in several calls, and children of equal pages of two jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from skitter.errors import ServerUnavailable
from skitter.frontier import Request, Settlement

if TYPE_CHECKING:
    from tests.contract.frontier.crawl import Crawl

POLL = "https://a.com/poll"


def polls(count: int, job: str = "j") -> list[Request]:
    return [Request(job, POLL, dont_filter=True) for _ in range(count)]


async def test_unfiltered_children_are_counted_on_over_several_calls(crawl: Crawl) -> None:
    await crawl.job()
    parent = Request("j", "https://a.com/")
    met: dict[int, int] = {}
    for count in (2, 1, 3):
        assert (await crawl.frontier.add(polls(count), parent=parent, met=met)).new == count
    # Replayed in other portions, they are the same.
    again: dict[int, int] = {}
    for count in (1, 4, 1):
        assert (await crawl.frontier.add(polls(count), parent=parent, met=again)).known == count
    assert (await crawl.frontier.add(polls(1), parent=parent, met=again)).new == 1


async def test_a_call_that_failed_counts_for_nothing(
    crawl: Crawl, monkeypatch: pytest.MonkeyPatch
) -> None:
    await crawl.job()
    parent = Request("j", "https://a.com/")
    met: dict[int, int] = {}
    await crawl.frontier.add(polls(1), parent=parent, met=met)

    async def lost(*_: object) -> None:
        raise ServerUnavailable(server="s", waited_s=1, reason="it is away")

    with monkeypatch.context() as patch:
        patch.setattr(crawl.frontier.shards, "replicate", lost)
        with pytest.raises(ServerUnavailable):
            await crawl.frontier.add(polls(2), parent=parent, met=met)
    assert (await crawl.frontier.add(polls(2), parent=parent, met=met)).known == 2
    assert (await crawl.frontier.add(polls(1), parent=parent, met=met)).new == 1


async def test_equal_pages_of_two_jobs_settled_together_have_children_of_their_own(
    crawl: Crawl,
) -> None:
    jobs = [await crawl.job("j"), await crawl.job("k")]
    for job in jobs:
        await crawl.add("https://a.com/", job=job.id)
    leases = await crawl.lease(jobs=jobs)
    await crawl.frontier.settle(
        [Settlement(lease, children=polls(1, lease.request.job)) for lease in leases]
    )
    for job in jobs:
        assert (await crawl.frontier.stats.job(job.id)).accepted == 2
        parent = Request(job.id, "https://a.com/")
        assert (await crawl.frontier.add(polls(1, job.id), parent=parent)).known == 1


async def test_unfiltered_children_are_new_in_each_job_of_a_shared_scope(crawl: Crawl) -> None:
    for name in ("j", "k"):
        await crawl.job(name, dedup="shared")
        start = Request.start(name)
        assert (await crawl.frontier.add(polls(2, name), parent=start)).new == 2
        assert (await crawl.frontier.add(polls(2, name), parent=start)).known == 2
