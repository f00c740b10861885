"""Counters are exact up to their bound, near past it, and no larger for it."""

from __future__ import annotations

import tracemalloc
from random import Random
from statistics import median
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skitter.validate.gates import Gates, figures_of
from skitter.validate.gates.counters import Median, Repeats

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.unit


@settings(deadline=None)
@given(st.lists(st.integers(0, 30), max_size=200))
def test_repeats_are_exact_below_the_bound(keys: list[int]) -> None:
    repeats = Repeats(most=100)
    for key in keys:
        repeats.add([key])
    assert repeats.share() == ((len(keys) - len(set(keys))) / len(keys) if keys else 0)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5])
def test_repeats_are_near_past_the_bound(share: float) -> None:
    dice = Random(f"repeats {share}")
    repeats = Repeats(most=2000)
    for number in range(50_000):
        repeats.add([number])
        if dice.random() < share / (1 - share):
            repeats.add([number])
    assert repeats.share() == pytest.approx(share, abs=0.03)
    if not share:
        assert repeats.share() == 0
    assert len(repeats._counts) <= 2000


@settings(deadline=None)
@given(st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=200))
def test_a_median_is_exact_below_the_bound(numbers: list[float]) -> None:
    found = Median(most=200)
    for number in numbers:
        found.add(number)
    assert found.value() == median(numbers)


def test_a_median_is_near_past_the_bound() -> None:
    found = Median(most=10_000)
    for number in range(100_000):  # sorted: a sample of its beginning would be far off
        found.add(number)
    assert found.value() == pytest.approx(50_000, rel=0.04)
    assert Median().value() is None


def test_memory_does_not_grow_with_the_items() -> None:
    wanted = {"coverage": {"n": 1}, "duplicates": {"by": ["n"]}, "drift": {"n": 1}}
    gates = Gates.checked(wanted, source="test")
    tracemalloc.start()
    try:
        figures = figures_of(_items(200_000), gates=gates)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (figures.items, figures.filled, figures.repeated) == (200_000, {"n": 200_000}, 0)
    assert most < 20 * 1024**2  # it would be 26 MB if it grew as it does up to the bound


def _items(count: int) -> Iterator[dict[str, Any]]:
    return ({"n": number} for number in range(count))
