from __future__ import annotations

import gc
import weakref
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from skitter.engine.collecting import COLLECT_AFTER_BYTES, Weighed, resting

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.unit


def test_the_collector_rests_and_comes_back() -> None:
    assert gc.isenabled()
    with resting():
        assert not gc.isenabled()
    assert gc.isenabled()


def test_a_collector_that_was_off_stays_off() -> None:
    gc.disable()
    try:
        with resting():
            assert not gc.isenabled()
        assert not gc.isenabled()
    finally:
        gc.enable()


class Knot:
    """Something that only the collector can take apart."""

    def __init__(self) -> None:
        self.itself = self


def test_pages_that_hold_themselves_go_when_they_have_become_many_bytes() -> None:
    weighed, knot = Weighed(), Knot()
    left = weakref.ref(knot)
    del knot
    with collecting_seldom():
        weighed.add(COLLECT_AFTER_BYTES)
        assert left()
        weighed.add(1)
        assert not left()


@contextmanager
def collecting_seldom() -> Iterator[None]:
    before = gc.get_threshold()
    gc.set_threshold(1_000_000)
    try:
        yield
    finally:
        gc.set_threshold(*before)
