"""How bodies share the room there is for them."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from skitter.intake import bodies as bodies_module
from skitter.intake.bodies import FEW, STEP, Bodies, Body
from tests.wait import wait_until_async

if TYPE_CHECKING:
    from collections.abc import Callable

    from skitter.intake import Lane, Page

MOST = 10 * STEP


def coming(bodies: Bodies, length: int | None) -> Body:
    """A body whose head is there."""
    body = bodies.begin()
    body.expect(length)
    return body


def whole(bodies: Bodies, size: int) -> Body:
    body = coming(bodies, size)
    assert not body.crowded()
    body.arrived(size)
    return body


def test_a_known_length_counts_before_it_is_read() -> None:
    bodies = Bodies(MOST)
    first, second = coming(bodies, 6 * STEP), coming(bodies, 4 * STEP)
    assert not first.crowded()
    assert not second.crowded()
    assert bodies.bytes == MOST
    assert bodies.full


def test_one_is_excused_when_there_is_no_room_and_the_next_when_it_is_over() -> None:
    bodies = Bodies(MOST)
    first, second, third = [coming(bodies, 8 * STEP) for _ in range(3)]
    assert [body.crowded() for body in (first, second, third)] == [False, False, True]
    assert bodies.bytes == 16 * STEP, "what fits, and the one that is excused"
    second.let_go()
    assert not third.crowded()
    assert bodies.bytes == 16 * STEP


def test_one_that_is_larger_than_the_bound_passes_and_alone() -> None:
    bodies = Bodies(MOST)
    large = coming(bodies, 5 * MOST)
    assert not large.crowded()
    assert bodies.full
    large.arrived(5 * MOST)
    large.let_go()
    assert bodies.bytes == 0


def test_a_body_of_unknown_length_counts_as_it_comes() -> None:
    bodies = Bodies(MOST)
    rest = whole(bodies, 8 * STEP)
    first, second = coming(bodies, None), coming(bodies, None)
    assert not first.crowded()
    assert not second.crowded()
    first.received(STEP)
    assert not first.crowded(), "it is the one that is excused"
    second.received(STEP)
    assert second.crowded()
    rest.let_go()
    assert not second.crowded()


def test_a_slow_one_is_not_excused_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    bodies = Bodies(MOST)
    whole(bodies, MOST)
    slow, other = coming(bodies, None), coming(bodies, None)
    assert not slow.crowded()
    assert other.crowded()
    monkeypatch.setattr(bodies_module, "EXCUSED_S", -1.0)
    assert not other.crowded()


def test_what_is_under_way_counts_as_big_as_most_are() -> None:
    bodies = Bodies(MOST)
    for _ in range(200):
        whole(bodies, STEP).let_go()
    assert begin_all(bodies) == MOST // STEP + 1


def test_a_few_may_always_be_under_way() -> None:
    bodies = Bodies(MOST)
    for _ in range(100):
        whole(bodies, MOST).let_go()
    assert begin_all(bodies) == FEW


def test_failures_count_as_empty() -> None:
    bodies = Bodies(MOST)
    whole(bodies, MOST).let_go()
    for _ in range(100):
        bodies.begin().let_go()
    assert begin_all(bodies, most=100) == 100


def begin_all(bodies: Bodies, *, most: int = 1000) -> int:
    """How many may begin, one after the other."""
    for number in range(most):
        if bodies.full:
            return number
        bodies.begin()
    return most


def test_a_failure_leaves_nothing_behind() -> None:
    bodies = Bodies(MOST)
    failed = coming(bodies, None)
    assert not failed.crowded()
    failed.received(3 * STEP)
    failed.let_go()
    failed.let_go()
    assert bodies.bytes == 0
    assert not bodies.full


async def test_waiting_ends_when_there_is_room() -> None:
    bodies = Bodies(MOST)
    first = whole(bodies, MOST)
    excused, waiting = coming(bodies, STEP), coming(bodies, STEP)
    assert not excused.crowded()
    assert waiting.crowded()
    task = asyncio.create_task(waiting.room())
    await asyncio.sleep(0)
    assert not task.done()
    first.let_go()
    await asyncio.wait_for(task, 30)
    assert bodies.bytes == 2 * STEP


async def test_what_was_unpacked_is_worked_on_in_turn() -> None:
    bodies = Bodies(MOST)
    first, second = whole(bodies, STEP), whole(bodies, STEP)
    first.hold(MOST)
    passing = asyncio.create_task(first.passed_on())
    await wait_until_async(passing.done)
    waiting = asyncio.create_task(second.passed_on())
    await asyncio.sleep(0)
    assert not waiting.done()
    first.let_go()
    await wait_until_async(waiting.done)


def test_a_lane_gives_nothing_while_there_is_no_room(
    lane: Lane, new_page: Callable[..., Page]
) -> None:
    bodies = lane._holding.bodies
    large = whole(bodies, bodies.most)
    told: list[bool] = []
    bodies.on_room = lambda: told.append(True)
    page = new_page()
    lane.ready.append(page)
    assert lane.take() is None
    large.let_go()
    assert told == [True]
    assert lane.take() is page
    assert page.body
