from __future__ import annotations

import gc

import pytest

from skitter.engine.collecting import resting

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
