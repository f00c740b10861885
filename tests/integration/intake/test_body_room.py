"""Big bodies: what waits for room begins when there is some, or goes to other workers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skitter.frontier import Fetch
from skitter.intake import Bounds, leaser
from tests.integration.intake.conftest import LANE, open_lane, take, urls, urls_of
from tests.wait import wait_until_async

if TYPE_CHECKING:
    import pytest

    from skitter.intake import Intake, Page
    from tests.integration.intake.conftest import Workshop

BOUND = 1000


def receive(intake: Intake, page: Page, size: int = BOUND) -> None:
    """A body comes in, and is whole."""
    assert intake.may_send(page)
    assert page.body
    page.body.expect(size)
    assert not page.body.crowded()
    page.body.arrived(size)
    intake.fetched(page, Fetch(latency_ms=1, status=200))


async def test_nothing_begins_until_a_body_is_let_go(shop: Workshop) -> None:
    intake = await shop.open(bounds=Bounds(body_bytes=BOUND))
    await shop.job()
    await shop.add(*urls("a.com", 3))
    woken: list[bool] = []
    lane = intake.lane(LANE, wake=lambda: woken.append(True), room=lambda: 100)
    [first] = await take(lane)
    receive(intake, first)
    await wait_until_async(lambda: len(lane.ready) == 2, what="the others lie ready")
    woken.clear()
    assert lane.take() is None
    assert intake.stats.body_bytes == BOUND
    intake.settle(first, page_given=True)
    await wait_until_async(lambda: woken, what="the lane hears that there is room")
    assert lane.take()
    assert intake.stats.body_bytes == 0


async def test_what_waits_for_long_goes_to_other_workers(
    shop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leaser, "HELD_UP_S", 0.1)
    full = await shop.open("full", bounds=Bounds(body_bytes=BOUND))
    await shop.job()
    await shop.add(*urls("a.com", 3))
    lane = open_lane(full)
    [first] = await take(lane)
    receive(full, first)
    await wait_until_async(lambda: full.stats.released == 2, what="the others are handed back")
    free = await shop.open("free")
    pages = await take(open_lane(free), 2)
    assert sorted(urls_of(pages)) == urls("a.com", 3)[1:]
    for intake, page in ((full, first), *((free, page) for page in pages)):
        intake.settle(page, page_given=True)
    await wait_until_async(lambda: full.stats.settled + free.stats.settled == 3)
    await shop.counts_are_right()
