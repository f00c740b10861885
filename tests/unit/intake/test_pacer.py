"""When pages come due: one at a time where there is a delay, all at once where there is none."""

from __future__ import annotations

import itertools
import time
from typing import TYPE_CHECKING

import pytest

from skitter.intake.pacer import Pacer
from tests.wait import wait_until_async

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from skitter.intake import Lane, Page

    NewPage = Callable[..., Page]


@pytest.fixture
def pacer() -> Iterator[Pacer]:
    pacer = Pacer()
    yield pacer
    pacer.stop()


def taken(lane: Lane) -> list[Page]:
    return list(iter(lane.take, None))


async def test_pages_of_hosts_without_a_delay_are_due_at_once(
    pacer: Pacer, lane: Lane, new_page: NewPage
) -> None:
    pages = [new_page(str(n)) for n in range(3)]
    pacer.offer(pages)
    assert taken(lane) == pages
    assert all(pacer.is_last(page) for page in pages)


async def test_pages_of_a_batch_come_due_a_delay_after_the_head_before_them(
    pacer: Pacer, lane: Lane, new_page: NewPage
) -> None:
    pages = [new_page(str(n), delay_ms=40) for n in range(3)]
    other = new_page(host="b.org", delay_ms=40)
    pacer.offer([*pages, other])
    assert taken(lane) == [pages[0], other]
    for before, page in itertools.pairwise(pages):
        assert not pacer.is_last(before)
        before.head_at = time.monotonic() - 0.01
        pacer.turn_over(before)
        assert lane.take() is None
        await wait_until_async(lambda: lane.ready)
        assert time.monotonic() - before.head_at >= 0.04
        assert taken(lane) == [page]
    pacer.turn_over(pages[-1])
    assert pacer.is_last(pages[-1])


async def test_lanes_are_woken_when_there_is_something_to_take(
    pacer: Pacer, lane: Lane, new_page: NewPage
) -> None:
    woken: list[int] = []
    lane.wake = lambda: woken.append(len(lane.ready))
    pages = [new_page(str(n), delay_ms=20) for n in range(2)]
    pacer.offer([*pages, new_page(host="b.org")])
    await wait_until_async(lambda: woken == [2])
    taken(lane)
    pages[0].head_at = time.monotonic()
    pacer.turn_over(pages[0])
    await wait_until_async(lambda: woken == [2, 1])


async def test_an_engine_that_fails_to_wake_is_no_trouble_for_others(
    pacer: Pacer, lane: Lane, new_page: NewPage
) -> None:
    def fail() -> None:
        raise RuntimeError("no engine")

    lane.wake = fail
    pacer.offer([new_page()])
    await wait_until_async(lambda: not pacer._to_wake)
    assert lane.take()


async def test_a_longer_delay_takes_back_what_is_due_and_not_taken(
    pacer: Pacer, lane: Lane, new_page: NewPage
) -> None:
    first, second = [new_page(str(n), delay_ms=10) for n in range(2)]
    pacer.offer([first, second])
    taken(lane)
    first.head_at = time.monotonic()
    pacer.turn_over(first)
    await wait_until_async(lambda: lane.ready)
    pacer.slow_down(second, 1000)
    assert lane.take() is None
    await wait_until_async(lambda: lane.ready)
    assert time.monotonic() - first.head_at >= 1


async def test_withdrawn_pages_are_in_no_queue(pacer: Pacer, lane: Lane, new_page: NewPage) -> None:
    pages = [new_page(str(n), delay_ms=1000) for n in range(3)]
    free = new_page(host="b.org")
    pacer.offer([*pages, free])
    pacer.withdraw({pages[0], free})
    assert taken(lane) == [pages[1]]  # nothing was sent, so there is nothing to wait for
    pacer.withdraw({pages[2]})
    pacer.turn_over(pages[1])
    assert pacer._batches == {}


async def test_what_was_fetched_in_a_turn_before_delays_its_page(
    pacer: Pacer, new_page: NewPage
) -> None:
    page = new_page(delay_ms=500)
    pacer.offer([page])
    assert pacer.wait_s(page) == 0
    page.head_at = time.monotonic()
    assert 0.4 < pacer.wait_s(page) <= 0.5
