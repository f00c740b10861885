from __future__ import annotations

import pytest

from skitter.api import rates
from skitter.api.rates import Buckets, whole_seconds


class Clock:
    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def test_a_burst_then_a_rate() -> None:
    clock = Clock()
    buckets = Buckets(rate_per_s=2, burst=3, now=clock)
    assert [buckets.take("a") for _ in range(3)] == [0, 0, 0]
    assert buckets.take("a") == pytest.approx(0.5)
    clock.now_s += 0.5
    assert buckets.take("a") == 0
    assert buckets.take("a") > 0
    clock.now_s += 100
    assert [buckets.take("a") for _ in range(3)] == [0, 0, 0]
    assert buckets.take("a") > 0


def test_one_who_is_refused_is_not_refused_longer_for_asking() -> None:
    clock = Clock()
    buckets = Buckets(rate_per_s=1, burst=1, now=clock)
    buckets.take("a")
    for _ in range(100):
        assert buckets.take("a") > 0
    clock.now_s += 1
    assert buckets.take("a") == 0


def test_each_has_a_bucket_and_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rates, "MOST_BUCKETS", 10)
    buckets = Buckets(rate_per_s=1, burst=1, now=Clock())
    assert [buckets.take(str(number)) for number in range(1_000)] == [0] * 1_000
    assert len(buckets) == 10
    assert buckets.take("999") > 0


@pytest.mark.parametrize(("seconds", "told"), [(0.01, 1), (1, 1), (1.2, 2), (59.0, 59)])
def test_retry_after_is_never_too_short(seconds: float, told: int) -> None:
    assert whole_seconds(seconds) == told
