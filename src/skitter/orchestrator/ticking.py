"""From a claimed tick to its job. Whoever does it, and however often, there is one job of a tick.

The job's id is made of the schedule and the tick. A leader that died between the claim and the
submission, or in the middle of the seeds, is completed by the next: a job that stands under that
id is this tick's, and is given what it lacks of its seeds. One that was given up before it had any
(its submitter died before the store knew of them) has nothing in it, and is made once more.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import structlog

from skitter.errors import FrontierError, JobEnded, SkitterError, UnknownJob
from skitter.jobs.submission import Submission
from skitter.orchestrator.errors import Superseded
from skitter.orchestrator.schedule_rows import read_ticks, write_tick
from skitter.orchestrator.term import keep_term
from skitter.service_errors import JobStands, StoreError

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from skitter.frontier import Frontier
    from skitter.jobs.service import Jobs
    from skitter.jobs.view import JobView
    from skitter.orchestrator.duty import Lead
    from skitter.orchestrator.schedule import Schedule, Tick
    from skitter.store import Store

log = structlog.get_logger(__name__)

AGAIN = "-again"
MOST_WAITING = 10
MOST_LIVE = 100


class Ticking:
    """Runs ticks for a leader, whose lead is confirmed before each step that only one may take.

    Without one, they are ticks by hand.
    """

    def __init__(
        self, frontier: Frontier, store: Store, jobs: Jobs, *, lead: Lead | None = None
    ) -> None:
        self._frontier = frontier
        self._store = store
        self._jobs = jobs
        self._lead = lead

    async def run(self, schedule: Schedule, tick: Tick) -> Tick:
        """Submit a tick's job, or decide against it; what became of the tick."""
        try:
            settled = await self._settle(schedule, tick)
        except (FrontierError, StoreError, Superseded):
            raise  # the tick stays claimed, and is tried again
        except SkitterError as error:  # what a person has to mend
            log.error("tick failed", schedule=schedule.name, error=str(error))  # noqa: TRY400
            settled = replace(tick, state="failed", note=error.summary)
        if settled != tick:
            await self._store.write(lambda found: self._note(found, settled))
        return settled

    def _note(self, connection: Connection, tick: Tick) -> None:
        if self._lead:
            keep_term(connection, self._lead.term)
        write_tick(connection, tick, now=datetime.now(UTC))

    async def _confirm(self) -> None:
        if self._lead:
            await self._lead.confirm()

    async def _settle(self, schedule: Schedule, tick: Tick) -> Tick:
        standing = await self._standing(tick.job)
        if standing is not None and _is_stillborn(standing):
            tick = replace(tick, job=tick.job + AGAIN)
            standing = await self._standing(tick.job)
        submission = Submission.from_json(schedule.job | {"id": tick.job})
        if standing is not None:
            await self._complete(standing, submission)
            return replace(tick, state="submitted")
        if not tick.manual:
            earlier = await self._live_before(schedule, tick)
            if earlier and schedule.overlap == "skip":
                return replace(tick, state="skipped", note=f"{earlier[0]} is still live")
            if earlier and schedule.overlap == "queue":
                return await self._queue(schedule, tick, earlier[0])
            if earlier and schedule.overlap == "cancel":
                await self._cancel(earlier)
        await self._confirm()
        await self._submit(submission)
        return replace(tick, state="submitted", note="")

    async def _submit(self, submission: Submission) -> None:
        try:
            await self._jobs.submit(submission)
        except JobStands as error:
            if error.job != submission.id:  # another job, which a unique one may not be beside
                raise
            standing = await self._standing(error.job)
            if standing:
                await self._complete(standing, submission)

    async def _standing(self, job: str) -> JobView | None:
        try:
            return await self._jobs.show(job)
        except UnknownJob:
            return None

    async def _complete(self, standing: JobView, submission: Submission) -> None:
        """Queue what whoever submitted it did not come to; the projector does it later if need be.

        (While the dead one's hold on the seeds counts, nobody knows that it is dead.) For then, the
        store has to know of the seeds: they are as good from here as from the dead one.
        """
        if not standing.ended:
            with suppress(JobEnded, UnknownJob):
                await self._jobs.keep_submission(standing.id, submission)
                await self._jobs.resume_seeding(standing.id)

    async def _live_before(self, schedule: Schedule, tick: Tick) -> list[str]:
        """Jobs of earlier ticks that have not ended."""
        earlier = await self._store.read(
            lambda found: read_ticks(
                found, states=("submitted",), schedule=schedule.name, limit=MOST_LIVE
            )
        )
        others = [other.job for other in earlier if other.job != tick.job]
        return [job for job in others if await self._is_live(job)]

    async def _is_live(self, job: str) -> bool:
        try:
            return (await self._frontier.jobs.record(job)).state != "ended"
        except UnknownJob:
            return False

    async def _queue(self, schedule: Schedule, tick: Tick, live: str) -> Tick:
        waiting = await self._store.read(
            lambda found: read_ticks(
                found, states=("waiting",), schedule=schedule.name, limit=MOST_WAITING
            )
        )
        if len(waiting) >= MOST_WAITING and tick.state != "waiting":
            return replace(tick, state="skipped", note=f"{MOST_WAITING} ticks are waiting already")
        return replace(tick, state="waiting", note=f"waits for {live}")

    async def _cancel(self, jobs: list[str]) -> None:
        for job in jobs:
            await self._confirm()
            with suppress(JobEnded, UnknownJob):
                await self._jobs.stop(job)


def _is_stillborn(job: JobView) -> bool:
    return job.outcome == "failed" and job.figures.accepted == 0 and not job.id.endswith(AGAIN)
