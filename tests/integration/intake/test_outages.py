"""A server that goes away in the middle of the work: nothing is lost, memory is bounded."""

from __future__ import annotations

import asyncio
import time
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

import pytest

from skitter.frontier import Config, Fetch, Request
from skitter.intake import Bounds
from tests.integration.intake.conftest import Workshop, open_lane, take, urls
from tests.integration.intake.engine import item_of
from tests.servers import ServerProcess
from tests.wait import wait_until_async

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

DURABLE = {"appendonly": "yes", "appendfsync": "always"}


@pytest.fixture
def server() -> Iterator[ServerProcess]:
    with ServerProcess("valkey", options=DURABLE) as server:
        yield server


@pytest.fixture
async def fragile(server: ServerProcess) -> AsyncIterator[Workshop]:
    """On a server of the test's own, to be broken."""
    async with AsyncExitStack() as stack:
        yield Workshop(server.url, "t", stack, Config(delay_ms=0, lease_ms=1_500))


async def test_an_outage_in_mid_work_loses_nothing_and_bounds_what_waits(
    server: ServerProcess, fragile: Workshop
) -> None:
    bounds = Bounds(in_hand=20, prefetch=20, children=200, unflushed=50)
    intake = await fragile.open(bounds=bounds, patience_s=0.3)
    await fragile.job()
    await fragile.add(*(f"https://www.site{n}.com/" for n in range(60)))
    lane = open_lane(intake)
    pages = await take(lane, 15)
    server.kill()
    for n, page in enumerate(pages):
        page.children += [Request("j", f"https://www.site{n}.com/{k}") for k in range(20)]
        page.items.append(item_of(page, n=n))
        if intake.may_send(page):
            intake.fetched(page, Fetch(latency_ms=1, status=200))
        intake.settle(page, page_given=True)
    blocked = asyncio.create_task(intake.room())
    await asyncio.wait([blocked], timeout=0.8)  # longer than a call's patience
    assert not blocked.done()
    assert intake.stats.children == 300
    assert intake.stats.in_hand <= bounds.in_hand
    server.start()
    await asyncio.wait_for(blocked, 30)
    await wait_until_async(lambda: intake.stats.settled + intake.stats.refused == 15)
    stats = await fragile.stats()
    assert (stats.accepted, stats.done) == (360, 15)
    assert len(fragile.sink.items) == 15
    for page in await take(lane, 20):
        intake.settle(page, page_given=True)
    await wait_until_async(lambda: intake.stats.settled + intake.stats.refused == 35)
    assert (await fragile.stats()).done == 35
    await fragile.counts_are_right()


async def test_leases_that_grew_stale_are_not_handed_out_until_they_are_renewed(
    server: ServerProcess, fragile: Workshop
) -> None:
    intake = await fragile.open(patience_s=0.2, timeout_s=0.2)
    await fragile.job()
    await fragile.add(*urls("a.com", 4))
    lane = open_lane(intake)
    [taken] = await take(lane)
    await wait_until_async(lambda: intake.stats.prefetched == 3)
    server.pause()
    await wait_until_async(lambda: not intake.may_send(taken), timeout_s=5)
    assert lane.take() is None
    server.resume()
    await take(lane, 3, timeout_s=15)
    await wait_until_async(lambda: intake.may_send(taken))


async def test_a_drain_without_a_server_ends_in_time(
    server: ServerProcess, fragile: Workshop
) -> None:
    intake = await fragile.open(patience_s=30, timeout_s=0.5)
    await fragile.job()
    await fragile.add(*urls("a.com", 4))
    await take(open_lane(intake))
    server.kill()
    begun = time.monotonic()
    await intake.drain(0.5)
    await intake.close()
    assert time.monotonic() - begun < 15


async def test_children_wait_for_the_server(server: ServerProcess, fragile: Workshop) -> None:
    intake = await fragile.open(patience_s=0.1)
    await fragile.job()
    await fragile.add("https://a.com/")
    [page] = await take(open_lane(intake, room=1))
    server.kill()
    same = [Request("j", "https://b.org/", dont_filter=True) for _ in range(3)]
    adding = asyncio.create_task(intake.add_children(page, same))
    await asyncio.wait([adding], timeout=0.5)
    assert not adding.done()
    server.start()
    await asyncio.wait_for(adding, 30)
    assert (await fragile.stats()).accepted == 4
