from __future__ import annotations

import pytest

from skitter.worker.restarts import Restarts

pytestmark = pytest.mark.unit


def test_waits_double_and_have_a_longest() -> None:
    restarts = Restarts(most=100)
    waits = [restarts.after(0.1, ready=False) for _ in range(12)]
    assert waits[:4] == [0.2, 0.4, 0.8, 1.6]
    assert waits[-1] == 30.0


def test_a_child_that_never_gets_ready_is_given_up() -> None:
    restarts = Restarts(most=2)
    assert restarts.after(1, ready=False) is not None
    assert restarts.after(100, ready=False) is not None
    assert restarts.after(1, ready=False) is None


def test_one_that_was_ready_never_is_and_comes_back_soon() -> None:
    restarts = Restarts(most=2)
    waits = [restarts.after(1, ready=True) for _ in range(50)]
    assert waits[0] == 0.2
    assert waits[-1] == 2.0


def test_a_long_life_starts_over() -> None:
    restarts = Restarts(most=5)
    for _ in range(5):
        restarts.after(1, ready=True)
    assert restarts.after(3600, ready=True) == 0.1
