"""Sees ended jobs to their end: judged, filed, kept, announced, and what they asked for done.

Each step is noted in the job's record when it is done, and is no harm when it is done again: after
a crash another goes on from there. What cannot be done now (a sink that is away, a webhook that
fails) is tried later, with growing pauses, and holds no other job up. A job is forgotten by the
server some time after all is done, when the store has it.
"""

from __future__ import annotations

import asyncio
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

import structlog

from skitter.errors import JobInUse, SinkError, SkitterError, UnknownJob
from skitter.jobs.projection import Projection
from skitter.jobs.retrying import discard_failed
from skitter.jobs.rows import read_job, write_errors
from skitter.jobs.service import Jobs
from skitter.orchestrator.actions import Actions
from skitter.orchestrator.job_items import is_folder, is_there
from skitter.orchestrator.run_judge import RunJudge
from skitter.orchestrator.webhook import Webhook
from skitter.service_errors import ActionFailed
from skitter.sinks.finalising import finalise

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skitter.frontier import Frontier
    from skitter.frontier.live_jobs import JobRecord
    from skitter.jobs.view import JobView
    from skitter.orchestrator.run_judge import Spiders
    from skitter.settings import Settings
    from skitter.store import Store

log = structlog.get_logger(__name__)

AT_ONCE = 100
SIDE_BY_SIDE = 4
PAUSE_MS, LONGEST_PAUSE_MS = 2_000, 600_000
IN_USE_MS = 5_000


def _no_spiders() -> Mapping[str, type[Any]]:
    return {}


class Finisher:
    """Sees to ended jobs. spiders gives the classes whose gates count, where they can be loaded."""

    def __init__(
        self,
        frontier: Frontier,
        store: Store,
        settings: Settings,
        *,
        spiders: Spiders = _no_spiders,
    ) -> None:
        self._frontier = frontier
        self._store = store
        self._settings = settings
        self._projection = Projection(frontier, store)
        sinks, options = settings.items.sink, settings.jobs
        self._judge = RunJudge(store, sinks=sinks, spiders=spiders)
        webhook = Webhook(timeout_s=options.webhook_timeout_s, user_agent=settings.fetch.user_agent)
        jobs = Jobs(frontier, store)
        self._actions = Actions(jobs, webhook, sinks=sinks, exports=Path(options.export_dir))
        self._room = asyncio.Semaphore(SIDE_BY_SIDE)

    async def tend(self) -> int:
        """See to all ended jobs that are due; how many are done with."""
        due = await self._frontier.endings.due(limit=AT_ONCE)
        done = await asyncio.gather(*(self._see_to(job) for job in due))
        for job in await self._frontier.endings.old(limit=AT_ONCE):
            await self._forget(job)
        return sum(done)

    async def _see_to(self, job: str) -> bool:
        """One job; whatever is wrong with it is logged, and it is looked at again later."""
        async with self._room:
            try:
                record = await self._frontier.jobs.record(job)
            except UnknownJob:
                return False  # deleted meanwhile
            try:
                return await self._finish(record)
            except SkitterError as error:
                log.warning("a job's end waits", job=job, error=str(error))
                await self._later(record, "end")
                return False

    async def _finish(self, record: JobRecord) -> bool:
        record = await self._judged(record)
        if "filed" not in record.notes:
            await self._file(record)
            await self._frontier.endings.note(record, "filed", "1")
        view = await self._keep(record)
        await self._frontier.events.announce(record, figures=vars(view.figures))
        if not await self._act(record, view):
            return False
        await self._frontier.endings.done(record, keep_ms=await self._keep_ms(record))
        log.info("job ended", job=record.job.id, outcome=record.outcome)
        return True

    async def _judged(self, record: JobRecord) -> JobRecord:
        if record.judged:
            return record
        failures = await self._judge.failures(record)
        outcome = "quality failed" if failures else ""
        return await self._frontier.endings.judge(
            record,
            failures,
            outcome=outcome,  # type: ignore[arg-type]
        )

    async def _file(self, record: JobRecord) -> None:
        """One file of what a job has in folders of files."""
        for sink in record.job.sinks or self._settings.items.sink:
            if is_folder(sink) and is_there(sink):
                await asyncio.to_thread(finalise, sink, record.job.id)

    async def _keep(self, record: JobRecord) -> JobView:
        """The row and the errors in the store; the view has the submission as it was."""
        job = record.job.id
        errors = await self._frontier.stats.errors(job)
        await self._projection.write(record)
        await self._store.write(lambda found: write_errors(found, job, errors))
        kept = await self._store.read(lambda found: read_job(found, job))
        assert kept is not None  # noqa: S101 - it was written just now
        return kept

    async def _act(self, record: JobRecord, view: JobView) -> bool:
        """Do what the job asks for; False if something of it is to be tried again later."""
        waits = False
        for number, action in enumerate(record.job.on_end, 1):
            name = f"act{number}"
            if record.notes.get(name) in ("done", "given up"):
                continue
            try:
                await self._actions.do(view, action, event=f"{record.no}-{number}")
            except (ActionFailed, SinkError) as error:
                waits |= not await self._failed(record, name, action["kind"], error)
            else:
                await self._frontier.endings.note(record, name, "done")
        return not waits

    async def _failed(self, record: JobRecord, name: str, kind: str, error: SkitterError) -> bool:
        """Note a failure; True if it was the last attempt."""
        tries = int(record.notes.get(name, 0)) + 1
        job, last = record.job.id, tries >= self._settings.jobs.webhook_attempts
        log.warning(
            "action at a job's end failed",
            job=job, action=kind, tries=tries, given_up=last, error=str(error),
        )  # fmt: skip
        await self._frontier.endings.note(record, name, "given up" if last else str(tries))
        if not last:
            await self._frontier.endings.later(record, ms=_pause_ms(tries))
        return last

    async def _later(self, record: JobRecord, name: str) -> None:
        tries = int(record.notes.get(name, 0)) + 1
        await self._frontier.endings.note(record, name, str(tries))
        await self._frontier.endings.later(record, ms=_pause_ms(tries))

    async def _keep_ms(self, record: JobRecord) -> int:
        """Longer where there are dead letters: they may yet be looked at, and tried again."""
        options = self._settings.jobs
        kept_s = options.retention_s
        if await self._frontier.dead.last_ms(record.job.id):
            kept_s = max(kept_s, options.dead_letters_days * 86_400)
        return int(kept_s * 1000)

    async def _forget(self, job: str) -> None:
        try:
            record = await self._frontier.jobs.record(job)
            await self._keep(record)
            await discard_failed(self._frontier, job)
            await self._frontier.jobs.forget(job)
        except UnknownJob:
            return
        except JobInUse as error:
            log.debug("an old job is in use", job=job, reason=str(error))
            await self._frontier.endings.done(record, keep_ms=IN_USE_MS)


def _pause_ms(tries: int) -> int:
    longest = min(LONGEST_PAUSE_MS, PAUSE_MS << min(tries - 1, 20))
    return int(longest * random.uniform(0.5, 1.0))
