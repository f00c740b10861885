"""What is held: renewed, given back, lost, handed back, bounded."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from skitter.frontier import Fetch, HostPolicy, Request
from tests.integration.intake.conftest import LANE, SMALL, open_lane, take, urls, urls_of
from tests.integration.intake.engine import item_of
from tests.wait import wait_until_async

if TYPE_CHECKING:
    from skitter.intake import Intake, Page
    from tests.integration.intake.conftest import Workshop


def finish(intake: Intake, page: Page) -> None:
    assert intake.may_send(page)
    intake.fetched(page, Fetch(latency_ms=1, status=200))
    intake.settle(page, page_given=True)


async def test_prefetched_and_taken_work_is_kept_beyond_a_lease(shop: Workshop) -> None:
    shop.config = replace(shop.config, lease_ms=1_000)
    intake = await shop.open()
    await shop.tend()
    await shop.job()
    await shop.add(*urls("a.com", 6))
    lane = open_lane(intake)
    taken = await take(lane, 3)
    ends_at = time.monotonic() + 2.5
    await wait_until_async(lambda: time.monotonic() > ends_at)
    assert all(intake.may_send(page) for page in taken)
    rest = await take(lane, 3)
    for page in taken + rest:
        finish(intake, page)
    await wait_until_async(lambda: intake.stats.settled == 6)
    stats = await shop.stats()
    assert (stats.done, stats.crashes, intake.stats.refused) == (6, 0, 0)


async def test_a_paused_job_is_given_back_and_nothing_of_it_is_sent(shop: Workshop) -> None:
    intake = await shop.open()
    await shop.job()
    await shop.add(*urls("a.com", 6))
    lane = open_lane(intake)
    unsent, sent = await take(lane, 2)
    assert intake.may_send(sent)
    await shop.frontier.jobs.pause("j")
    await intake._renewer.renew()
    assert lane.take() is None
    await wait_until_async(lambda: intake.stats.released == 4)
    assert unsent.give_back
    assert not intake.may_send(unsent)
    assert not await intake.paced(unsent)
    intake.release(unsent)
    intake.fetched(sent, Fetch(latency_ms=1, status=200))
    intake.settle(sent, page_given=True)
    await wait_until_async(lambda: intake.stats.released == 5)
    await wait_until_async(lambda: intake.stats.settled == 1)
    stats = await shop.stats()
    assert (stats.queued, stats.done, stats.leased) == (5, 1, 0)
    await shop.frontier.jobs.resume("j")
    assert len(await take(lane, 5)) == 5


async def test_a_lease_that_is_gone_sends_nothing_and_its_settlement_is_refused(
    shop: Workshop,
) -> None:
    intake = await shop.open()
    await shop.job()
    await shop.add(*urls("a.com", 4))
    lane = open_lane(intake)
    taken = await take(lane, 2)
    assert await shop.frontier.reap("w1") == 4
    late, told = taken
    intake.settle(late, page_given=True)  # it does not know yet
    await wait_until_async(lambda: intake.stats.refused == 1)
    await intake._renewer.renew()
    assert told.gone
    assert not intake.may_send(told)
    told.items.append(item_of(told, n=1))
    intake.settle(told, page_given=True)
    await wait_until_async(lambda: intake.stats.refused == 2)
    assert shop.sink.items == {}
    assert len(await take(lane, 4)) == 4  # all of them once more
    stats = await shop.stats()
    assert (stats.done, stats.leased, stats.accepted) == (0, 4, 4)
    await shop.counts_are_right()


async def test_a_drain_hands_back_what_was_not_taken_at_once_and_waits_for_the_rest(
    shop: Workshop,
) -> None:
    intake = await shop.open()
    other = await shop.connect("w2")
    await shop.job()
    await shop.add(*(f"https://www.site{n}.com/" for n in range(20)))
    lane = open_lane(intake)
    taken = await take(lane, 3)
    await wait_until_async(lambda: intake.stats.prefetched == 17)
    draining = asyncio.create_task(intake.drain(60))
    leases = []

    async def others_have_it() -> bool:
        leases.extend((await other.lease([LANE], count=100)).leases)
        return len(leases) == 17

    await wait_until_async(others_have_it, timeout_s=5)
    assert not draining.done()
    for page in taken:
        finish(intake, page)
    await draining
    assert intake.stats.settled == 3
    assert lane.take() is None
    assert (await shop.stats()).crashes == 0
    await shop.counts_are_right()


async def test_a_drain_ends_with_its_grace_and_gives_hosts_that_were_asked_their_pause(
    shop: Workshop,
) -> None:
    shop.config = replace(shop.config, delay_ms=10_000)
    intake = await shop.open()
    await shop.job()
    await shop.add("https://a.com/", "https://b.org/")
    lane = open_lane(intake)
    pages = {page.lease.host: page for page in await take(lane, 2)}
    assert intake.may_send(pages["a.com"])
    await intake.drain(0.1)
    stats = await shop.stats()
    assert (stats.queued, stats.leased) == (2, 0)
    other = await shop.open("w2")
    again = open_lane(other)
    assert urls_of(await take(again)) == ["https://b.org/"]
    assert again.take() is None


async def test_a_closed_lane_hands_its_work_back_and_others_keep_theirs(shop: Workshop) -> None:
    intake = await shop.open()
    await shop.job("one", args={"x": "1"})
    await shop.job("two", args={"x": "2"})
    await shop.add(*urls("a.com", 4), job="one")
    await shop.add(*urls("b.org", 4), job="two")
    one, two = [
        open_lane(intake, lane=(await shop.frontier.jobs.record(name)).job.lane)
        for name in ("one", "two")
    ]
    await wait_until_async(lambda: intake.stats.prefetched == 8)
    [taken] = await take(one)
    await one.close()
    assert intake.stats.released == 3
    assert one.take() is None
    finish(intake, taken)
    await take(two, 4)
    again = open_lane(intake, lane=one.name)
    await take(again, 3)


async def test_a_lane_that_leaves_its_work_lying_keeps_no_other_from_work(
    shop: Workshop,
) -> None:
    intake = await shop.open(bounds=SMALL)
    await shop.job("one", args={"x": "1"})
    await shop.job("two", args={"x": "2"})
    await shop.add(*urls("a.com", 8), job="one")
    idle, busy = [(await shop.frontier.jobs.record(name)).job.lane for name in ("one", "two")]
    open_lane(intake, lane=idle)
    await wait_until_async(lambda: intake.stats.prefetched == SMALL.prefetch)
    await shop.add(*urls("b.org", 3), job="two")
    lane = open_lane(intake, lane=busy)
    for _ in range(3):
        [page] = await take(lane)
        finish(intake, page)


async def test_bounds_hold(shop: Workshop) -> None:
    intake = await shop.open(bounds=SMALL)
    await shop.job()
    await shop.add(*(f"https://www.site{n}.com/" for n in range(40)))
    lane = open_lane(intake)
    await wait_until_async(lambda: intake.stats.prefetched == SMALL.prefetch)
    taken = await take(lane, SMALL.in_hand)
    assert lane.take() is None
    assert (await shop.stats()).leased == SMALL.in_hand
    shop.sink.away = True
    for page in taken:
        page.items.append(item_of(page, n=1))
        finish(intake, page)
    # As many settlements wait as may, so nothing more is leased, and whoever asks has to wait.
    blocked = asyncio.create_task(intake.room())
    await asyncio.wait([blocked], timeout=0.1)
    assert not blocked.done()
    assert intake.stats.in_hand == 0
    assert intake.stats.settlements == SMALL.in_hand
    shop.sink.away = False
    await asyncio.wait_for(blocked, 30)
    await take(lane, SMALL.in_hand)
    assert intake.stats.in_hand <= SMALL.in_hand


async def test_room_is_short_while_too_many_children_wait(shop: Workshop) -> None:
    intake = await shop.open(bounds=SMALL)
    await shop.job()
    await shop.add("https://a.com/")
    [page] = await take(open_lane(intake))
    await intake.room()
    shop.sink.away = True
    page.items.append(item_of(page, n=1))
    page.children += [Request("j", f"https://b.org/{n}") for n in range(SMALL.children)]
    intake.settle(page, page_given=True)
    blocked = asyncio.create_task(intake.room())
    await asyncio.wait([blocked], timeout=0.1)
    assert not blocked.done()
    shop.sink.away = False
    await asyncio.wait_for(blocked, 30)


async def test_a_request_that_workers_died_with_runs_with_nothing_beside_it(
    shop: Workshop,
) -> None:
    shop.config = replace(shop.config, alone_after_crashes=1)
    first = await shop.open("w0")
    await shop.job()
    await shop.add("https://a.com/bad")
    lane = open_lane(first, room=1)
    await take(lane)
    await lane.close()
    assert await shop.frontier.reap("w0") == 1
    await shop.frontier.hosts.set_policy("a.com", HostPolicy(blocked=True))
    await shop.add(*(f"https://www.site{n}.com/" for n in range(4)))
    intake = await shop.open("w1")
    lane = open_lane(intake, room=4)
    others = await take(lane, 3)
    await wait_until_async(lambda: len(lane.ready) == 1)
    await shop.frontier.hosts.set_policy("a.com", HostPolicy(blocked=False))
    await wait_until_async(lambda: intake.stats.released == 1)  # what was not taken goes back
    assert lane.take() is None
    for page in others:
        assert intake.stats.settled < 3
        assert lane.take() is None
        finish(intake, page)
    [bad] = await take(lane)
    assert bad.lease.alone
    assert (intake.stats.settled, intake.stats.in_hand) == (3, 1)
    finish(intake, bad)
    await take(lane)  # and then the one that went back


async def test_work_of_a_host_that_slows_down_goes_back(shop: Workshop) -> None:
    intake = await shop.open()
    await shop.job()
    await shop.add(*urls("a.com", 5), *urls("b.org", 2))
    lane = open_lane(intake)
    await wait_until_async(lambda: intake.stats.prefetched == 7)
    pages = await take(lane, 7)
    page = next(page for page in pages if page.lease.host == "a.com")
    # Give them back, so that they are prefetched once more, but for one.
    for other in pages:
        if other is not page:
            intake.release(other)
    await wait_until_async(lambda: intake.stats.prefetched == 6)
    intake.fetched(page, Fetch(latency_ms=1, status=429))
    await wait_until_async(lambda: intake.stats.prefetched == 2)
    assert {page.lease.host for page in await take(lane, 2)} == {"b.org"}
    await wait_until_async(lambda: intake.stats.released == 10)


@pytest.mark.parametrize("turned", ["lease", "page"])
async def test_a_longer_delay_counts_for_what_is_held(shop: Workshop, turned: str) -> None:
    shop.config = replace(shop.config, delay_ms=50, turn_ms=500, latency_factor=0)
    intake = await shop.open()
    await shop.job()
    await shop.add(*urls("a.com", 4))
    lane = open_lane(intake)
    [page] = await take(lane)
    if turned == "lease":
        await shop.frontier.hosts.set_policy("a.com", HostPolicy(delay_ms=300))
        await intake._renewer.renew()
    else:
        page.lease.delay_ms = 300  # its robots.txt asked for it
    assert intake.may_send(page)
    head_at = time.monotonic()
    intake.fetched(page, Fetch(latency_ms=1, status=200))
    await take(lane)
    assert time.monotonic() - head_at >= 0.3


async def test_robots_txt_in_a_turn_delays_its_page(shop: Workshop) -> None:
    shop.config = replace(shop.config, delay_ms=200, latency_factor=0)
    intake = await shop.open()
    await shop.job()
    await shop.add("https://a.com/")
    [page] = await take(open_lane(intake))
    assert await intake.paced(page)
    page.head_at = time.monotonic()
    assert await intake.paced(page)
    assert time.monotonic() - page.head_at >= 0.2


async def test_a_page_that_is_settled_unfetched_lets_the_next_one_come_at_once(
    shop: Workshop,
) -> None:
    shop.config = replace(shop.config, delay_ms=10_000, turn_ms=30_000)
    intake = await shop.open()
    await shop.job()
    await shop.add(*urls("a.com", 3))
    lane = open_lane(intake)
    for _ in range(3):
        [page] = await take(lane)
        intake.settle(page, page_given=False, figures={"disallowed": 1})
    await wait_until_async(lambda: intake.stats.settled == 3)


async def test_permits_keep_the_pace_and_go_before_prefetched_work(shop: Workshop) -> None:
    shop.config = replace(shop.config, delay_ms=150, turn_ms=1_500, latency_factor=0)
    intake = await shop.open()
    await shop.job()
    await shop.add(*urls("a.com", 6))
    lane = open_lane(intake)
    [page] = await take(lane)
    assert intake.may_send(page)
    head_at = time.monotonic()
    intake.fetched(page, Fetch(latency_ms=1, status=200))
    permit = await intake.permit("a.com", timeout_s=5)
    assert time.monotonic() - head_at >= 0.15
    assert intake.may_send(permit)
    assert lane.take() is None
    head_at = time.monotonic()
    intake.permit_over(permit, Fetch(latency_ms=1, status=200))
    await take(lane)
    assert time.monotonic() - head_at >= 0.15


async def test_permits_are_renewed_time_out_and_come_back(shop: Workshop) -> None:
    shop.config = replace(shop.config, delay_ms=100, lease_ms=400)
    intake = await shop.open()
    await shop.tend()
    permit = await intake.permit("a.com", timeout_s=1)
    with pytest.raises(TimeoutError, match=r"a\.com gave no turn"):
        await intake.permit("a.com", timeout_s=1.0)
    assert intake.may_send(permit)
    intake.permit_over(permit, None)
    again = await intake.permit("a.com", timeout_s=1)
    assert await shop.frontier.reap("w1") == 1
    await intake._renewer.renew()
    assert not intake.may_send(again)
    intake.permit_over(again, None)
