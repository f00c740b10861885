"""Calls wait for company while there is work to take, and not when there is none."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from skitter.frontier import Leased
from skitter.intake import leaser as module
from skitter.intake.leaser import Leaser
from tests.wait import wait_until_async

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

    from skitter.intake import Lane, Page
    from skitter.intake.holding import Holding

AGES_S = 3600.0


class Told:
    """What a leaser does, in order: reports, then asks."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    async def report(self) -> None:
        self.calls.append("report")

    async def lease(self, *_args: Any, **_kwargs: Any) -> Leased:
        self.calls.append("lease")
        return Leased([], retry_ms=1_000_000)

    def hand_back(self, _leases: Any) -> None:
        """Nothing was leased."""


def made(told: Any, lane: Lane, holding: Holding) -> Leaser:
    leaser = Leaser(told, holding, egresses=lambda: ["direct"], shards=None)
    leaser.returner = told
    leaser.deal = lambda _pages: None
    leaser.withdraw = lambda _pages: None
    leaser.lanes[lane.name] = lane
    lane.on_low = leaser.room_made
    return leaser


async def test_lingering_ends_when_the_last_page_is_taken(
    lane: Lane, holding: Holding, new_page: Callable[..., Page], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LINGER_S", AGES_S)
    leaser = made(Told(), lane, holding)
    await leaser.linger()
    lane.ready.extend([new_page("1"), new_page("2")])
    lingering = asyncio.ensure_future(leaser.linger())
    lane.take()
    await asyncio.wait([lingering], timeout=0.01)
    assert not lingering.done()
    lane.take()
    await asyncio.wait_for(lingering, 30)


async def test_fetches_are_reported_before_more_is_asked_for(lane: Lane, holding: Holding) -> None:
    told = Told()
    leaser = made(told, lane, holding)
    running = asyncio.ensure_future(leaser.run())
    await wait_until_async(lambda: len(told.calls) >= 2)
    leaser.stop()
    await asyncio.wait_for(running, 30)
    assert told.calls[:2] == ["report", "lease"]


async def test_no_call_follows_another_at_once_while_there_is_work(
    lane: Lane, holding: Holding, new_page: Callable[..., Page], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LINGER_S", AGES_S)
    told = Told()
    leaser = made(told, lane, holding)
    lane.ready.append(new_page("1"))
    running = asyncio.ensure_future(leaser.run())
    await wait_until_async(lambda: "lease" in told.calls)
    leaser.ask_by(0.0)
    await asyncio.wait([running], timeout=0.01)
    assert told.calls.count("lease") == 1
    lane.take()
    await wait_until_async(lambda: told.calls.count("lease") == 2)
    leaser.stop()
    await asyncio.wait_for(running, 30)
