"""What a schedule is, what a tick of it is, and which ticks are due. Pure: it is told the time.

A tick that is late by less than the grace is run whatever happened: a leader died, or was slow. An
older one was missed while nobody was there, and the catch-up policy says what becomes of it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, get_args

from skitter.orchestrator.cron import Cron
from skitter.orchestrator.errors import BadSchedule

Overlap = Literal["skip", "queue", "allow", "cancel"]
CatchUp = Literal["none", "last", "all"]
TickState = Literal["claimed", "waiting", "submitted", "ended", "skipped", "missed", "failed"]

MOST_DUE = 1000
MOST_CAUGHT_UP = 100
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """A job to be submitted again and again.

    overlap: what a tick does while a job of an earlier tick is live: `skip` itself, `queue` until
    that one has ended, `allow` both, or `cancel` the old one. catch_up: which of the ticks that
    were missed are run: `none`, the `last`, or `all` up to catch_up_most of them. source is the
    file that it comes from, or empty.
    """

    name: str
    cron: str
    timezone: str = "UTC"
    job: dict[str, Any] = field(default_factory=dict)
    overlap: Overlap = "skip"
    catch_up: CatchUp = "last"
    catch_up_most: int = 10
    paused: bool = False
    source: str = ""

    def check(self) -> Cron:
        """Its cron; raises BadSchedule where something of it cannot be."""
        problems = {
            f"the name {self.name!r} is not like prices-daily": not NAME.fullmatch(self.name),
            f"overlap is one of {', '.join(get_args(Overlap))}": self.overlap
            not in get_args(Overlap),
            f"catch_up is one of {', '.join(get_args(CatchUp))}": self.catch_up
            not in get_args(CatchUp),
            f"catch_up_most is from 1 to {MOST_CAUGHT_UP}": not 1
            <= self.catch_up_most
            <= MOST_CAUGHT_UP,
            "its job needs a spider": not self.job.get("spider"),
            "its job's id is made of its name and the tick": "id" in self.job,
        }
        for problem, wrong in problems.items():
            if wrong:
                raise BadSchedule(problem=problem)
        return Cron(self.cron, self.timezone)


@dataclass(frozen=True, kw_only=True)
class Tick:
    """One time that a schedule was due, and what became of it."""

    schedule: str
    at: datetime
    state: TickState
    job: str = ""
    note: str = ""
    manual: bool = False

    def to_json(self) -> dict[str, Any]:
        """As commands and the API give it."""
        return {
            "schedule": self.schedule,
            "at": self.at.isoformat(),
            "state": self.state,
            "job": self.job,
            "note": self.note,
            "manual": self.manual,
        }


@dataclass(frozen=True, slots=True)
class Due:
    """Ticks to run, ticks that were missed, and when to look again; None is never."""

    run: list[datetime]
    missed: list[datetime]
    next_at: datetime | None


def due(schedule: Schedule, *, after: datetime, now: datetime, grace: timedelta) -> Due:
    """Which ticks came after the last one that was dealt with, up to now."""
    cron = schedule.check()
    ticks = cron.between(after, now, most=MOST_DUE)
    if len(ticks) == MOST_DUE:  # away for very long: what is older than the last ones is not told
        ticks = _newest(cron, ticks, now)
    late = [tick for tick in ticks if now - tick > grace]
    caught_up = late[-_caught_up(schedule) :] if _caught_up(schedule) else []
    on_time = ticks[len(late) :]
    following = cron.ticks(max([*ticks, after, now]), count=1)
    return Due(
        run=[*caught_up, *on_time],
        missed=late[: len(late) - len(caught_up)],
        next_at=following[0] if following else None,
    )


def _caught_up(schedule: Schedule) -> int:
    return {"none": 0, "last": 1, "all": schedule.catch_up_most}[schedule.catch_up]


def _newest(cron: Cron, ticks: list[datetime], now: datetime) -> list[datetime]:
    """The last ticks before now, from where the mean distance says that so many are left."""
    span = (ticks[-1] - ticks[0]) / (len(ticks) - 1)
    start = max(ticks[0], now - span * (MOST_DUE // 2))
    return cron.between(start, now, most=MOST_DUE)


def job_id(schedule: str, at: datetime, *, manual: bool = False) -> str:
    """The id of a tick's job: the same whoever submits it, and however often."""
    form = "%Y%m%dT%H%M%S.%fZ" if manual else "%Y%m%dT%H%M%SZ"
    return f"{schedule}-{at.astimezone(UTC).strftime(form)}"


def ms_of(moment: datetime) -> int:
    """As it is kept."""
    return round(moment.timestamp() * 1000)


def moment_of(ms: int) -> datetime:
    """As it is told."""
    return datetime.fromtimestamp(ms / 1000, UTC)
