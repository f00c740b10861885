"""Schedules: added, listed, changed, run by hand. The CLI, the API and YAML files use this."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from skitter.jobs.submission import Submission
from skitter.orchestrator.errors import ScheduleStands, UnknownSchedule
from skitter.orchestrator.schedule import Schedule, Tick, job_id, moment_of
from skitter.orchestrator.schedule_rows import (
    delete_schedule,
    insert_schedule,
    insert_tick,
    read_history,
    read_schedules,
    schedule_of,
    update_schedule,
)
from skitter.orchestrator.ticking import Ticking

if TYPE_CHECKING:
    from sqlalchemy import Connection, Row

    from skitter.frontier import Frontier
    from skitter.jobs.service import Jobs
    from skitter.store import Store

NEXT = 5
_Views = list["ScheduleView"]  # `list` is a method below
_Moments = list[datetime]
_Ticks = list[Tick]


@dataclass(frozen=True, kw_only=True)
class ScheduleView:
    """A schedule, when it ticks next, and what became of its last tick."""

    schedule: Schedule
    next_ticks: list[datetime]
    last: Tick | None
    created_at: datetime
    changed_at: datetime

    def to_json(self) -> dict[str, Any]:
        """For machines; times are ISO 8601, in UTC."""
        return asdict(self.schedule) | {
            "next_ticks": [tick.isoformat() for tick in self.next_ticks],
            "last": self.last.to_json() if self.last else None,
            "created_at": self.created_at.isoformat(),
            "changed_at": self.changed_at.isoformat(),
        }


class Schedules:
    """All schedules."""

    def __init__(self, frontier: Frontier, store: Store, jobs: Jobs) -> None:
        self._store = store
        self._ticking = Ticking(frontier, store, jobs)

    async def add(self, schedule: Schedule) -> ScheduleView:
        """Keep a new schedule; raises BadSchedule, BadSubmission and ScheduleStands."""
        now = datetime.now(UTC)
        next_at = _next(schedule, now)
        stood = not await self._store.write(
            lambda found: insert_schedule(found, schedule, now=now, next_at=next_at)
        )
        if stood and (await self.show(schedule.name)).created_at != moment_of(_ms(now)):
            raise ScheduleStands(schedule=schedule.name)
        return await self.show(schedule.name)

    async def list(self) -> _Views:
        """All of them, by name."""
        return await self._store.read(
            lambda found: [_view(found, row) for row in read_schedules(found)]
        )

    async def show(self, name: str) -> ScheduleView:
        """One of them; raises UnknownSchedule."""
        views = await self._store.read(
            lambda found: [_view(found, row) for row in read_schedules(found, name)]
        )
        if not views:
            raise UnknownSchedule(schedule=name)
        return views[0]

    async def change(self, name: str, **fields: Any) -> ScheduleView:
        """Give it other fields, from now on."""
        schedule = replace((await self.show(name)).schedule, **fields)
        now = datetime.now(UTC)
        next_at = _next(schedule, now)
        found = await self._store.write(
            lambda rows: update_schedule(rows, schedule, now=now, next_at=next_at)
        )
        if not found:
            raise UnknownSchedule(schedule=name)
        return await self.show(name)

    async def pause(self, name: str) -> ScheduleView:
        """No tick until it is resumed; what is missed meanwhile stays so."""
        return await self.change(name, paused=True)

    async def resume(self, name: str) -> ScheduleView:
        """Tick again, from now on."""
        return await self.change(name, paused=False)

    async def delete(self, name: str) -> None:
        """Forget it and its history; its jobs go on."""
        if not await self._store.write(lambda found: delete_schedule(found, name)):
            raise UnknownSchedule(schedule=name)

    async def run_now(self, name: str) -> Tick:
        """A tick by hand, beside all others and whatever runs."""
        schedule = (await self.show(name)).schedule
        now = moment_of(_ms(datetime.now(UTC)))
        await self._store.write(lambda found: insert_tick(found, name, now))
        job = job_id(name, now, manual=True)
        tick = Tick(schedule=name, at=now, state="claimed", job=job, manual=True)
        return await self._ticking.run(schedule, tick)

    async def ticks(self, name: str, *, count: int = NEXT) -> _Moments:
        """When it ticks next, whether it is paused or not."""
        schedule = (await self.show(name)).schedule
        return schedule.check().ticks(datetime.now(UTC), count=count)

    async def history(
        self, name: str, *, limit: int = 50, before: datetime | None = None
    ) -> _Ticks:
        """What became of its ticks, the newest first; before a moment, to go on from there."""
        return await self._store.read(
            lambda found: read_history(found, name, limit=limit, before=before)
        )


def _next(schedule: Schedule, now: datetime) -> datetime | None:
    """Its next tick; raises for what could never be submitted."""
    Submission.from_json(schedule.job).check()
    ticks = schedule.check().ticks(now, count=1)
    return ticks[0] if ticks else None


def _ms(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)


def _view(connection: Connection, row: Row[Any]) -> ScheduleView:
    schedule = schedule_of(row)
    last = read_history(connection, row.name, limit=1, before=None)
    ticks = [] if schedule.paused else schedule.check().ticks(datetime.now(UTC), count=NEXT)
    return ScheduleView(
        schedule=schedule,
        next_ticks=ticks,
        last=last[0] if last else None,
        created_at=moment_of(row.created_ms),
        changed_at=moment_of(row.changed_ms),
    )
