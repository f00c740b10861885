from __future__ import annotations

import pytest

from skitter.worker.lane_book import LaneBook

pytestmark = pytest.mark.unit

IDLE_S = 30.0


def book(most: int = 10) -> LaneBook:
    return LaneBook(most=most, idle_s=IDLE_S)


def open_lanes(lanes: LaneBook, *names: str, now: float = 0.0) -> None:
    lanes.look(now, ready=dict.fromkeys(names, 0), busy=())
    for name in names:
        lanes.opened(name, now)


def test_a_lane_with_work_is_opened_once() -> None:
    lanes = book()
    assert lanes.look(0, ready={"a": 0}, busy=()).open == ["a"]
    assert lanes.look(1, ready={"a": 0}, busy=()).open == []
    lanes.opened("a", 1)
    assert lanes.look(2, ready={"a": 0}, busy=()).open == []
    assert lanes.lanes["a"].state == "open"


def test_work_that_is_far_ahead_opens_nothing_yet() -> None:
    lanes = book()
    assert lanes.look(0, ready={"a": 60_000}, busy=()).open == []
    assert lanes.look(30, ready={"a": 30_000}, busy=()).open == ["a"]


def test_a_lane_without_work_is_closed_after_a_while_and_opened_again() -> None:
    lanes = book()
    open_lanes(lanes, "a")
    assert lanes.look(29, ready={}, busy=()).close == []
    assert lanes.look(30, ready={}, busy=()).close == ["a"]
    assert lanes.look(31, ready={"a": 0}, busy=()).open == []  # it is not closed yet
    lanes.closed("a", 32)
    assert lanes.look(33, ready={"a": 0}, busy=()).open == ["a"]


def test_work_in_hand_keeps_a_lane_open() -> None:
    lanes = book()
    open_lanes(lanes, "a")
    assert lanes.look(100, ready={}, busy={"a"}).close == []
    assert lanes.look(129, ready={}, busy=()).close == []
    assert lanes.look(130, ready={}, busy=()).close == ["a"]


def test_what_is_ready_sooner_is_opened_first() -> None:
    assert book(2).look(0, ready={"a": 500, "b": 0, "c": 100}, busy=()).open == ["b", "c"]


def test_an_idle_lane_makes_room_at_once() -> None:
    lanes = book(2)
    open_lanes(lanes, "a", "b")
    moves = lanes.look(5, ready={"b": 0, "c": 0}, busy=())
    assert (moves.open, moves.close) == ([], ["a"])
    lanes.closed("a", 6)
    assert lanes.look(6, ready={"b": 0, "c": 0}, busy=()).open == ["c"]


def test_no_lane_waits_for_ever() -> None:
    lanes = book(1)
    open_lanes(lanes, "a")
    ready = {"a": 0, "b": 0}
    assert lanes.look(29, ready=ready, busy=()).close == []
    assert lanes.look(30, ready=ready, busy=()).close == ["a"]
    lanes.closed("a", 31)
    assert lanes.look(31, ready={"b": 0, "a": 1}, busy=()).open == ["b"]


def test_a_failed_lane_waits_longer_each_time() -> None:
    lanes = book()
    now, waits = 0.0, []
    for _ in range(8):
        assert lanes.look(now, ready={"a": 0}, busy=()).open == ["a"]
        lanes.failed("a", now, error="ValueError: no")
        waits.append(lanes.troubles["a"].until - now)
        assert lanes.look(now, ready={"a": 0}, busy=()).open == []
        now = lanes.troubles["a"].until
    assert waits == [1, 2, 4, 8, 16, 32, 60, 60]
    assert lanes.troubles["a"].error == "ValueError: no"


def test_a_failed_lane_holds_up_no_other() -> None:
    lanes = book(1)
    lanes.look(0, ready={"a": 0}, busy=())
    lanes.failed("a", 0, error="no")
    assert lanes.look(0, ready={"a": 0, "b": 5}, busy=()).open == ["b"]


def test_a_crawler_that_ends_by_itself_at_once_is_not_opened_at_once() -> None:
    lanes = book()
    open_lanes(lanes, "a")
    lanes.closed("a", 1)
    assert lanes.look(1, ready={"a": 0}, busy=()).open == []
    assert lanes.look(2, ready={"a": 0}, busy=()).open == ["a"]


def test_a_good_life_ends_the_trouble() -> None:
    lanes = book()
    lanes.look(0, ready={"a": 0}, busy=())
    lanes.failed("a", 0, error="no")
    open_lanes(lanes, "a", now=1)
    lanes.closed("a", 100)
    assert lanes.troubles == {}


def test_troubles_of_jobs_that_ended_are_forgotten() -> None:
    lanes = book()
    lanes.failed("a", 0, error="no")
    lanes.failed("b", 0, error="no")
    lanes.forget({"b"})
    assert list(lanes.troubles) == ["b"]
