"""The cron loop: claims ticks that are due, makes jobs of them, and notes how those end."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import structlog

from skitter.errors import JobEnded, UnknownJob
from skitter.jobs.rows import read_jobs
from skitter.orchestrator.errors import BadSchedule
from skitter.orchestrator.schedule import Due, due, moment_of
from skitter.orchestrator.schedule_rows import (
    OPEN,
    claim,
    read_due,
    read_schedules,
    read_ticks,
    schedule_of,
    write_tick,
)
from skitter.orchestrator.term import keep_term
from skitter.orchestrator.ticking import Ticking

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from sqlalchemy import Connection, Row

    from skitter.jobs.view import JobView
    from skitter.orchestrator.duty import Lead
    from skitter.orchestrator.schedule import Schedule, Tick
    from skitter.store import Store

log = structlog.get_logger(__name__)

AT_ONCE = 1000


class Ticker:
    """Under a leader's term. clock is for tests."""

    def __init__(
        self,
        store: Store,
        ticking: Ticking,
        lead: Lead,
        *,
        grace_s: float,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._store = store
        self._ticking = ticking
        self._lead = lead
        self._grace = timedelta(seconds=grace_s)
        self._clock = clock

    async def tend(self) -> int:
        """One round; how many ticks were settled."""
        now = self._clock()
        for row in await self._store.read(lambda found: read_due(found, now)):
            await self._claim(row, now)
        settled = await self._settle()
        await self._follow()
        return settled

    async def _claim(self, row: Row[Any], now: datetime) -> None:
        schedule = schedule_of(row)
        try:
            found = due(schedule, after=moment_of(row.last_ms), now=now, grace=self._grace)
        except BadSchedule as error:  # a zone that this machine does not know
            log.error("schedule cannot tick", schedule=row.name, error=str(error))  # noqa: TRY400
            return
        term = self._lead.term

        def write(connection: Connection) -> bool:
            keep_term(connection, term)
            return claim(connection, row, found, now=now)

        if await self._store.write(write):
            _tell(row.name, found)

    async def _settle(self) -> int:
        """Ticks that are claimed or wait; those of a schedule that is gone went with it."""
        ticks = await self._store.read(lambda found: read_ticks(found, states=OPEN, limit=AT_ONCE))
        schedules = await self._store.read(_by_name) if ticks else {}
        settled = 0
        for tick in ticks:
            if tick.schedule not in schedules:
                continue
            settled += await self._run(schedules[tick.schedule], tick)
        return settled

    async def _run(self, schedule: Schedule, tick: Tick) -> bool:
        """One tick; what is wrong with its job alone holds no other up."""
        try:
            became = await self._ticking.run(schedule, tick)
        except (JobEnded, UnknownJob) as error:
            log.warning("tick waits", schedule=schedule.name, job=tick.job, error=str(error))
            return False
        return became.state not in OPEN

    async def _follow(self) -> None:
        """How jobs of ticks have ended, for the history."""
        ticks = await self._store.read(
            lambda found: read_ticks(found, states=("submitted",), limit=AT_ONCE)
        )
        if not ticks:
            return
        jobs = await self._store.read(lambda found: read_jobs(found, [t.job for t in ticks]))
        for ended in [_ended(tick, jobs[tick.job]) for tick in ticks if _is_over(tick, jobs)]:
            await self._store.write(
                lambda found, ended=ended: write_tick(found, ended, now=self._clock())  # type: ignore[misc]
            )


def _by_name(connection: Connection) -> dict[str, Schedule]:
    return {row.name: schedule_of(row) for row in read_schedules(connection)}


def _is_over(tick: Tick, jobs: dict[str, JobView]) -> bool:
    return tick.job in jobs and jobs[tick.job].ended


def _ended(tick: Tick, job: JobView) -> Tick:
    return replace(tick, state="ended", note=job.outcome)


def _tell(name: str, found: Due) -> None:
    log.info("ticks claimed", schedule=name, run=len(found.run), missed=len(found.missed))
    if found.missed:
        log.warning("ticks were missed", schedule=name, missed=len(found.missed))
