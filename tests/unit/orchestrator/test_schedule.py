from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from skitter.orchestrator.errors import BadSchedule
from skitter.orchestrator.schedule import CatchUp, Schedule, due, job_id

HOURLY = Schedule(name="prices", cron="0 * * * *", job={"spider": "shop"})
GRACE = timedelta(seconds=60)


def at(text: str) -> datetime:
    return datetime.fromisoformat(f"2026-05-01T{text}").replace(tzinfo=UTC)


def hours(ticks: list[datetime]) -> list[int]:
    return [tick.hour for tick in ticks]


@pytest.mark.parametrize(
    ("catch_up", "after", "now", "run", "missed"),
    [
        ("last", "09:00", "09:59", [], []),
        ("last", "09:00", "10:00", [10], []),
        ("none", "09:00", "10:00:59", [10], []),
        ("none", "09:00", "10:02", [], [10]),
        ("last", "09:00", "10:02", [10], []),
        ("last", "09:00", "13:30", [13], [10, 11, 12]),
        ("none", "09:00", "13:30", [], [10, 11, 12, 13]),
        ("all", "09:00", "13:30", [11, 12, 13], [10]),
        ("none", "09:00", "13:00:30", [13], [10, 11, 12]),
        ("last", "09:00", "13:00:30", [12, 13], [10, 11]),
    ],
)
def test_what_is_due(
    catch_up: CatchUp, after: str, now: str, run: list[int], missed: list[int]
) -> None:
    schedule = replace(HOURLY, catch_up=catch_up, catch_up_most=3)
    found = due(schedule, after=at(after), now=at(now), grace=GRACE)
    assert (hours(found.run), hours(found.missed)) == (run, missed)
    assert found.next_at is not None
    assert found.next_at > at(now)


def test_a_leader_that_was_away_for_seconds_misses_nothing() -> None:
    often = replace(HOURLY, cron="* * * * * *", catch_up="none")
    found = due(often, after=at("10:00:00"), now=at("10:00:09"), grace=GRACE)
    assert len(found.run) == 9
    assert found.missed == []


def test_a_long_time_away_is_bounded() -> None:
    often = replace(HOURLY, cron="* * * * *", catch_up="all", catch_up_most=10)
    now = at("10:00")
    found = due(often, after=now - timedelta(days=365), now=now, grace=GRACE)
    assert found.run[-1] == now
    assert len(found.run) == 10 + 2  # the last two are on time
    assert len(found.missed) < 1000


def test_a_schedule_that_never_ticks_again() -> None:
    never = replace(HOURLY, cron="0 0 29 2 1#5", catch_up="none")
    assert due(never, after=at("00:00"), now=at("00:01"), grace=GRACE).run == []


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"name": "a b"}, "name"),
        ({"name": ""}, "name"),
        ({"overlap": "often"}, "overlap is one of skip, queue, allow, cancel"),
        ({"catch_up": "some"}, "catch_up is one of none, last, all"),
        ({"catch_up_most": 0}, "catch_up_most"),
        ({"job": {}}, "needs a spider"),
        ({"job": {"spider": "s", "id": "x"}}, "id is made of"),
        ({"cron": "often"}, "Wrong number of fields"),
    ],
)
def test_what_cannot_be_is_refused(fields: dict[str, Any], problem: str) -> None:
    with pytest.raises(BadSchedule, match=problem):
        replace(HOURLY, **fields).check()


def test_a_tick_has_one_job_id() -> None:
    assert job_id("prices", at("10:00")) == "prices-20260501T100000Z"
    assert job_id("prices", at("10:00").astimezone()) == "prices-20260501T100000Z"
