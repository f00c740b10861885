from __future__ import annotations

from skitter.orchestrator.counting import Counting, Sample


def test_growth_within_a_window() -> None:
    counting = Counting(keep_s=100)
    assert counting.growth(10) == {}
    counting.note(0, {"a": 5})
    assert counting.growth(10) == {"a": 0}  # it may have been there for long
    counting.note(10, {"a": 7, "b": 3})
    assert counting.growth(10) == {"a": 2, "b": 3}
    counting.note(20, {"a": 8, "b": 3})
    assert counting.growth(10) == {"a": 1, "b": 0}
    assert counting.growth(100) == {"a": 3, "b": 3}
    counting.note(130, {"a": 1})  # a counter that fell did not grow
    assert counting.growth(200) == {"a": 0}


def test_how_long_a_counter_stood_still() -> None:
    counting = Counting(keep_s=100)
    assert counting.still_s("a") == 0
    for at, value in ((0, 1), (10, 2), (20, 2), (30, 2)):
        counting.note(at, {"a": value})
    assert counting.still_s("a") == 20


def test_what_is_kept_is_bounded_and_the_newest_is_there() -> None:
    counting = Counting(keep_s=720)
    for step in range(10_000):
        counting.note(step / 10, {"a": step})
    assert len(counting._samples) <= 722
    assert counting.growth(0) == {"a": 0}
    assert 90 <= counting.growth(10)["a"] <= 101


def test_what_another_noted_is_gone_on_with() -> None:
    counting = Counting(keep_s=100)
    noted = [Sample(at, {"a": at}) for at in (0.0, 120.0, 140.0, 999.0)]
    counting.go_on(noted, now=200.0)
    counting.note(200, {"a": 150, "b": 4})
    assert counting.growth(100) == {"a": 30, "b": 4}
    assert counting.growth(60) == {"a": 10, "b": 4}


def test_what_was_left_out_of_a_sample_counts_from_when_it_was_seen() -> None:
    counting = Counting(keep_s=100)
    cut = Sample(0.0, {"a": 1, "b": 2, "c": 3}).cut(1)
    assert not cut.whole
    counting.go_on([cut], now=10.0)
    counting.note(10, {"a": 5, "b": 5})
    counting.note(20, {"a": 6, "b": 7, "d": 2})
    assert counting.growth(100) == {"a": 5, "b": 2, "d": 2}
    assert counting.still_s("b") == 0


def test_a_small_sample_is_whole() -> None:
    assert Sample(0.0, {"a": 1}).cut(1).whole
