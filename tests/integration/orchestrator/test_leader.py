"""One leads, another follows when it is gone, and the old one's word counts no more."""

from __future__ import annotations

import asyncio
import time
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

import pytest

from skitter.frontier import Frontier
from skitter.orchestrator.errors import Superseded
from skitter.orchestrator.leader import Leader
from tests.wait import wait_until_async

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

pytestmark = pytest.mark.integration


@pytest.fixture(params=["valkey_server", "redis_cluster"])
def server_url(request: pytest.FixtureRequest) -> str:
    url: str = request.getfixturevalue(request.param).url
    return url


@pytest.fixture
async def frontier(server_url: str, namespace: str) -> AsyncIterator[Frontier]:
    async with await Frontier.connect(server_url, worker="test", namespace=namespace) as frontier:
        yield frontier


@asynccontextmanager
async def standing(frontier: Frontier, name: str, **times: float) -> AsyncIterator[Leader]:
    leader = Leader(frontier, name=name, **({"lease_s": 2.0, "renew_s": 0.2} | times))
    running = asyncio.create_task(leader.run())
    try:
        yield leader
    finally:
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running


async def test_one_leads_and_hands_over_when_it_ends(frontier: Frontier) -> None:
    async with standing(frontier, "b") as other:
        async with standing(frontier, "a") as first:
            await wait_until_async(lambda: first.leading or other.leading)
            assert first.leading != other.leading
            leads, waits = (first, other) if first.leading else (other, first)
            fence = leads.fence
            with pytest.raises(Superseded):
                await waits.confirm()
            assert await leads.confirm() == fence
        await asyncio.wait_for(other.elected(), 30)
        assert other.fence >= fence


async def test_one_that_is_silent_is_replaced_when_its_lease_is_over(frontier: Frontier) -> None:
    silent = Leader(frontier, name="silent", lease_s=2.0)
    assert await silent.campaign()
    begun = time.monotonic()
    async with standing(frontier, "next") as follower:
        await asyncio.wait_for(follower.elected(), 30)
        assert time.monotonic() - begun > 1.5
        assert not silent.leading
        assert follower.fence == silent.fence + 1
        with pytest.raises(Superseded):
            await silent.confirm()


async def test_it_is_sure_only_as_long_as_no_other_can_lead(frontier: Frontier) -> None:
    leader = Leader(frontier, lease_s=4)
    assert await leader.campaign()
    assert leader.leading
    await wait_until_async(lambda: not leader.leading)
    other = Leader(frontier, lease_s=4)
    assert not await other.campaign()
