"""The meter's guesses, and what a snapshot looks like at 80 columns, with colour and without."""

from __future__ import annotations

import io
import re
from dataclasses import replace

import pytest
from rich.console import Console

from skitter.cli.meter import Meter, Reading
from skitter.cli.progress import Snapshot, clock, draw, line, rate, rated
from skitter.frontier.stats import JobStats

SNAPSHOT = Snapshot(
    job="shop-7f3ac01b",
    spider="ecommerce",
    state="running",
    elapsed_s=42,
    reading=Reading(
        at_s=42,
        accepted=4480,
        settled=1204,
        queued=3210,
        leased=64,
        delayed=2,
        buried=1,
        pages=1204,
        items=980,
        errors=3,
    ),
    pages_per_s=28.66,
    items_per_s=123.4,
    hosts=5,
    workers=2,
)


def drawn(snapshot: Snapshot, *, width: int = 80, colour: bool = False) -> str:
    out = io.StringIO()
    Console(file=out, width=width, force_terminal=True, no_color=not colour).print(draw(snapshot))
    return out.getvalue()


def metered(*readings: Reading) -> Meter:
    meter = Meter()
    for reading in readings:
        meter.note(reading)
    return meter


def at(at_s: float, accepted: int, settled: int) -> Reading:
    return Reading(at_s=at_s, accepted=accepted, settled=settled, pages=settled)


def test_everything_is_there_in_80_columns() -> None:
    text = re.sub(r"\x1b\[[0-9;]*m", "", drawn(SNAPSHOT))
    words = ["shop-7f3ac01b", "ecommerce", "running", "0:42", "1,204 pages", "28.7/s", "980 items"]
    words += ["123/s", "3,210 queued", "64 in hand", "3 errors", "1 given up", "5 hosts", "ETA ?"]
    words += ["2 workers", "27% of what is known"]
    assert [word for word in words if word not in text] == []


@pytest.mark.parametrize("width", [80, 60, 200])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    crowded = replace(SNAPSHOT, job="j" * 90, errors={"e" * 100: 3}, note="n" * 100)
    lines = drawn(crowded, width=width).splitlines()
    plain = [re.sub(r"\x1b\[[0-9;]*m", "", each) for each in lines]
    assert max(map(len, plain)) <= width
    assert len(plain) <= 6


def test_without_colour_no_colour_is_sent() -> None:
    assert "\x1b[3" not in drawn(replace(SNAPSHOT, errors={"timeout": 3}))
    assert "\x1b[3" in drawn(replace(SNAPSHOT, errors={"timeout": 3}), colour=True)


def test_a_line_for_a_log() -> None:
    assert line(SNAPSHOT) == (
        "0:42 running, 1,204 pages (28.7/s), 980 items, 3 errors, 3,210 queued, 64 in hand, "
        "2 to be tried again, 5 hosts, ETA ?"
    )


def test_a_limit_is_what_the_bar_counts() -> None:
    text = drawn(replace(SNAPSHOT, max_pages=2408, left_s=42))
    assert "50% of its limit" in text
    assert "ETA 0:42" in text


def test_rates_are_of_the_last_seconds() -> None:
    readings = [at(float(second), 1000, 10 * second) for second in range(100)]
    assert metered(*readings).per_s("settled") == pytest.approx(10)
    slower = [at(100.0 + second, 1000, 990 + second) for second in range(20)]
    assert metered(*readings, *slower).per_s("settled") == pytest.approx(1, abs=0.01)


def test_a_rate_of_a_moment_is_not_told() -> None:
    assert metered().per_s("pages") is None
    assert metered(at(0, 10, 0), at(2, 10, 5)).per_s("pages") is None
    assert metered(at(0, 10, 0), at(3, 10, 6)).per_s("pages") == 2


def test_the_end_is_told_only_when_it_is_in_sight() -> None:
    growing = metered(at(0, 100, 0), at(10, 300, 50))
    assert growing.left_s() is None
    shrinking = metered(at(0, 100, 0), at(10, 110, 50))
    assert shrinking.left_s() == pytest.approx(60 / 4)
    standing = metered(at(0, 100, 20), at(10, 100, 20))
    assert standing.left_s() is None
    assert metered(at(0, 100, 0)).left_s() is None


def test_a_limit_is_an_end_too() -> None:
    growing = metered(at(0, 100, 0), at(10, 300, 50))
    assert growing.left_s(max_pages=100) == pytest.approx(10)
    assert rated(replace(SNAPSHOT, max_pages=100), growing).left_s == pytest.approx(10)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(None, "?"), (0, "0:00"), (59.6, "1:00"), (3600, "1:00:00"), (86_400 * 4, "4 d")],
)
def test_spans_of_time(seconds: float | None, text: str) -> None:
    assert clock(seconds) == text


def test_rates_as_text() -> None:
    assert [rate(value) for value in (None, 0, 1.26, 1234.5)] == [
        "?/s",
        "0.0/s",
        "1.3/s",
        "1,234/s",
    ]


def test_counters_of_a_job() -> None:
    stats = JobStats(accepted=9, done=4, buried=1, retries=2, queued=3, leased=1, pages=4)
    stats.figures["items"] = 7
    reading = Reading.of(stats, at_s=1)
    assert (reading.pending, reading.settled, reading.errors, reading.items) == (4, 5, 3, 7)
