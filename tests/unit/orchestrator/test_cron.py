from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from skitter.orchestrator.cron import Cron
from skitter.orchestrator.errors import BadSchedule

PARIS = "Europe/Paris"  # summer time from 2026-03-29 01:00 UTC to 2026-10-25 01:00 UTC


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def told(ticks: list[datetime]) -> list[str]:
    return [tick.strftime("%m-%dT%H:%M:%S") for tick in ticks]


@pytest.mark.parametrize(
    ("expression", "zone", "after", "ticks"),
    [
        ("*/15 * * * *", "UTC", "2026-01-01T00:07", ["01-01T00:15:00", "01-01T00:30:00"]),
        ("@hourly", "UTC", "2026-01-01T00:00", ["01-01T01:00:00", "01-01T02:00:00"]),
        ("*/20 * * * * *", "UTC", "2026-01-01T00:00", ["01-01T00:00:20", "01-01T00:00:40"]),
        ("0 9 * * MON-FRI", PARIS, "2026-01-02T12:00", ["01-05T08:00:00", "01-06T08:00:00"]),
        # 02:30 does not exist on 29 March: it ticks when the clock has leapt, once.
        ("30 2 * * *", PARIS, "2026-03-28T12:00", ["03-29T01:00:00", "03-30T00:30:00"]),
        # 02:30 is there twice on 25 October: it ticks once.
        ("30 2 * * *", PARIS, "2026-10-24T12:00", ["10-25T00:30:00", "10-26T01:30:00"]),
        ("30 2 * * *", PARIS, "2026-10-25T00:30", ["10-26T01:30:00", "10-27T01:30:00"]),
        # Asked in the second of the two hours, it does not begin again with the first.
        ("30 2 * * *", PARIS, "2026-10-25T01:10", ["10-26T01:30:00", "10-27T01:30:00"]),
        # What ticks every half hour does so by elapsed time, in both.
        ("*/30 * * * *", PARIS, "2026-03-29T00:30", ["03-29T01:00:00", "03-29T01:30:00"]),
        ("*/30 * * * *", PARIS, "2026-10-25T00:30", ["10-25T01:00:00", "10-25T01:30:00"]),
        ("0 0 31 * *", "UTC", "2026-02-01T00:00", ["03-31T00:00:00", "05-31T00:00:00"]),
    ],
)
def test_the_next_ticks(expression: str, zone: str, after: str, ticks: list[str]) -> None:
    assert told(Cron(expression, zone).ticks(utc(after), count=2)) == ticks


@pytest.mark.parametrize(
    "expression", ["30 2 * * *", "0,30 1-3 * * *", "*/10 * * * *", "0 * * * *"]
)
@pytest.mark.parametrize("day", ["2026-03-28T18:00", "2026-10-24T18:00"])
def test_ticks_are_the_same_from_wherever_one_asks(expression: str, day: str) -> None:
    cron, begin = Cron(expression, PARIS), utc(day)
    end = begin + timedelta(days=1)
    all_of_them = cron.between(begin, end, most=1000)
    assert all_of_them == sorted(set(all_of_them))
    one_by_one, moment = [], begin
    while (tick := cron.ticks(moment, count=1)[0]) <= end:
        one_by_one.append(tick)
        moment = tick
    assert one_by_one == all_of_them
    for minutes in range(0, 24 * 60, 7):
        start = begin + timedelta(minutes=minutes)
        assert cron.between(start, end, most=1000) == [t for t in all_of_them if t > start]


def test_five_ticks_at_once() -> None:
    assert len(Cron("0 0 29 2 *").ticks(utc("2026-01-01T00:00"), count=5)) == 5


@pytest.mark.parametrize(
    ("expression", "zone", "problem"),
    [
        ("61 * * * *", "UTC", "Bad minute"),
        ("* * *", "UTC", "Wrong number of fields"),
        ("@fortnightly", "UTC", "Wrong number of fields"),
        ("0 0 30 2 *", "UTC", "Bad day-of-month"),
        ("* * * * *", "Mars/Olympus", "no time zone Mars/Olympus"),
        ("* * * * *", "../etc/passwd", "no time zone"),
        ("", "UTC", "Wrong number of fields"),
    ],
)
def test_what_cannot_be_is_refused(expression: str, zone: str, problem: str) -> None:
    with pytest.raises(BadSchedule, match=problem):
        Cron(expression, zone)
