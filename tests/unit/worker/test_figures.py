from __future__ import annotations

import pytest

from skitter.worker.figures import BUCKETS, Figures, Histogram, Rate

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    ("ms", "bucket"),
    [
        (-1, 0),
        (0, 0),
        (0.9, 0),
        (1, 1),
        (1.9, 1),
        (2, 2),
        (1023, 10),
        (1024, 11),
        (1e9, BUCKETS - 1),
    ],
)
def test_a_bucket_has_what_took_less_than_its_power_of_two(ms: float, bucket: int) -> None:
    histogram = Histogram()
    histogram.note(ms)
    assert histogram.counts.index(1) == bucket


def test_quantiles() -> None:
    histogram = Histogram()
    assert histogram.quantile_ms(0.5) == 0
    for ms in (3, 3, 3, 900):
        histogram.note(ms)
    assert histogram.quantile_ms(0.5) == 4
    assert histogram.quantile_ms(1.0) == 1024


def test_a_rate_is_of_the_last_minute() -> None:
    now = 1000.0
    rate = Rate(lambda: now)
    now += 10
    rate.note(20)
    assert rate.per_s() == 2.0
    now += 40
    rate.note(10)
    assert rate.per_s() == pytest.approx(30 / 50)
    now += 30
    assert rate.per_s() == pytest.approx(10 / 60)
    now += 1000
    assert rate.per_s() == 0


def test_fields_are_plain_values() -> None:
    figures = Figures()
    figures.took("fetch", 0.25)
    fields = figures.fields()
    assert sum(fields["latency_ms"]["fetch"]) == 1
    assert sum(fields["latency_ms"]["sink"]) == 0
