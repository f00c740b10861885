"""Every mutating call of the frontier, each with a world to be called in and its effect counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from skitter.frontier import Fetch, Settlement
from tests.contract.frontier.crawl import pages

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from skitter.frontier import Lease
    from skitter.frontier.stats import JobStats
    from tests.contract.frontier.crawl import Crawl


@dataclass(frozen=True)
class Call:
    """`script` is what it sends; `effect` is true after it, however often it was sent."""

    name: str
    script: str
    run: Callable[[Crawl, list[Lease]], Awaitable[Any]]
    effect: Callable[[JobStats], bool]


async def prepare(crawl: Crawl) -> list[Lease]:
    """Ten requests at one host: two leased, one buried, seven queued."""
    await crawl.job(held=True)
    await crawl.add(*pages("a.com", 10))
    buried, *leases = await crawl.lease(3)
    await crawl.settle(buried, outcome="bury", reason="x")
    crawl.clock.step(1)
    return leases


async def _add(crawl: Crawl, _: list[Lease]) -> None:
    assert (await crawl.add(*pages("b.org", 5))).new == 5


async def _lease(crawl: Crawl, _: list[Lease]) -> None:
    assert len(await crawl.lease(3)) == 3


async def _settle(crawl: Crawl, leases: list[Lease]) -> None:
    figures = {"items": 4}
    assert await crawl.settle(*leases, page=True, figures=figures) == [True, True]


async def _retry(crawl: Crawl, leases: list[Lease]) -> None:
    settlements = [Settlement(lease, outcome="retry", retry_ms=1000) for lease in leases]
    assert await crawl.frontier.settle(settlements) == [True, True]


async def _fetched(crawl: Crawl, leases: list[Lease]) -> None:
    fetches = [(lease, Fetch(latency_ms=7, status=200)) for lease in leases]
    assert await crawl.frontier.fetched(fetches) == [True, True]
    state = await crawl.frontier.hosts.state("a.com")
    assert (state.fetched, state.fetching) == (3, 0)


async def _release(crawl: Crawl, leases: list[Lease]) -> None:
    assert await crawl.frontier.release(leases) == [True, True]


async def _permit(crawl: Crawl, _: list[Lease]) -> None:
    assert (await crawl.frontier.permit("a.com")).granted
    assert (await crawl.frontier.hosts.state("a.com")).fetching == 3


async def _replay(crawl: Crawl, _: list[Lease]) -> None:
    assert await crawl.frontier.dead.replay(await crawl.frontier.dead.find()) == [True]


async def _renew(crawl: Crawl, leases: list[Lease]) -> None:
    assert [r.answer for r in await crawl.frontier.renew(leases)] == ["kept", "kept"]


async def _reap(crawl: Crawl, _: list[Lease]) -> None:
    await crawl.frontier.reap("w1")


async def _stop(crawl: Crawl, _: list[Lease]) -> None:
    assert (await crawl.frontier.jobs.stop("j")).state == "ended"


CALLS = [
    Call("add", "add", _add, lambda s: (s.accepted, s.queued) == (15, 12)),
    Call("lease", "lease", _lease, lambda s: (s.leased, s.queued) == (5, 4)),
    Call("settle", "settle", _settle, lambda s: (s.done, s.pages, s.figures["items"]) == (2, 2, 8)),
    Call("retry", "settle", _retry, lambda s: (s.delayed, s.retries) == (2, 2)),
    Call("fetched", "fetched", _fetched, lambda s: s.leased == 2),
    Call("release", "release", _release, lambda s: (s.leased, s.queued) == (0, 9)),
    Call("permit", "permit", _permit, lambda s: s.leased == 2),
    Call("replay", "replay", _replay, lambda s: (s.accepted, s.queued) == (11, 8)),
    Call("renew", "renew", _renew, lambda s: s.leased == 2),
    Call("reap", "reap", _reap, lambda s: (s.leased, s.queued, s.crashes) == (0, 9, 2)),
    Call("stop", "job_change", _stop, lambda s: s.leased == 2),
]
