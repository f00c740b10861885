"""Jobs: submitted, listed, shown, changed. The CLI, the API and the orchestrator use this.

A live job is read from the server, where its truth is; an ended one from the store, which also
finds jobs by filters. Every change is written to both, the server first.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import AsyncGenerator
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from skitter.errors import JobEnded, UnknownJob
from skitter.frontier import Request
from skitter.frontier.places import read_place
from skitter.jobs.hints import hint_of
from skitter.jobs.listing import Count, Filters, count_jobs, find_jobs
from skitter.jobs.projection import Projection
from skitter.jobs.pushing import HOLD_MS, PUSHING, Push, Tally, held_open, hold_name
from skitter.jobs.retrying import copy_failed, discard_failed, replay_failed
from skitter.jobs.rows import delete_job, is_kept, read_errors, read_job, read_totals
from skitter.jobs.seed_files import seeds_of_urls
from skitter.jobs.seeds import Defaults, Seed, seed_of_line
from skitter.jobs.submission import Submission
from skitter.jobs.view import JobPage, JobView, view_of
from skitter.service_errors import BadSubmission, JobLive, JobStands, NothingFailed

if TYPE_CHECKING:
    from collections.abc import AsyncIterable, Callable, Sequence

    from skitter.frontier import Frontier
    from skitter.frontier.events import JobEvent
    from skitter.frontier.live_jobs import JobRecord
    from skitter.store import Store

SEEDS_AT_ONCE = 1000
RESERVED_MS = 60_000
SEEDING, SEEDING_MS = "seeds", 86_400_000  # held until all its first requests are there
RETRY_OF = "retry_of"
_Views = list[JobView]  # `list` is a method below
_Requests = list[Request]
_Seeds = AsyncGenerator[list[Seed], None]


class Jobs:
    """All jobs, live and ended. checks raise BadSubmission for what they know to be wrong."""

    def __init__(
        self,
        frontier: Frontier,
        store: Store,
        *,
        checks: Sequence[Callable[[Submission], None]] = (),
    ) -> None:
        self._frontier = frontier
        self._store = store
        self._checks = checks
        self._projection = Projection(frontier, store)

    async def submit(self, submission: Submission) -> JobView:
        """Make a job, with its seeds or its start(); raises BadSubmission and JobStands."""
        submission.check()
        for check in self._checks:
            check(submission)
        job = submission.job(submission.id or new_id(submission.spider))
        if await self._store.read(lambda found: is_kept(found, job.id)):
            raise JobStands(job=job.id)
        if job.unique:
            await self._reserve(job.unique, job.id)
        # Made with both: at no moment may it look as if its submitter had died.
        hold = hold_name(self._frontier)
        holds = {SEEDING: SEEDING_MS, hold: HOLD_MS}
        if not await self._frontier.jobs.create(job, holds=holds):
            raise JobStands(job=job.id)
        async with held_open(self._frontier, job.id, name=hold):
            record = await self._frontier.jobs.record(job.id)
            await self._projection.write(record, submission=submission)
            await self._give(job.id, submission)
        return await self.show(job.id)

    async def keep_submission(self, job: str, submission: Submission) -> None:
        """Let the store know what a job is to begin with, if whoever made it died before it did."""
        seeds = (await self._frontier.jobs.known(job)).job.seeds
        kept = await self._store.read(lambda found: read_job(found, job))
        if kept and kept.submission and len(kept.submission.seeds) == seeds:
            return
        if len(submission.seeds) == seeds:
            record = await self._frontier.jobs.record(job)
            await self._projection.write(record, submission=submission)

    async def resume_seeding(self, job: str) -> bool:
        """Give a job the first requests that its submitter died over; False if none did."""
        holds = await self._frontier.jobs.holds(job)
        if SEEDING not in holds or any(name.startswith(PUSHING) for name in holds):
            return False
        known = (await self._frontier.jobs.known(job)).job
        kept = await self._store.read(lambda found: read_job(found, job))
        submission = kept.submission if kept else None
        if submission is None or len(submission.seeds) != known.seeds:
            # Nobody knows what it was to begin with, and nobody was told that it stands.
            await self._frontier.jobs.stop(job, outcome="failed")
        else:
            async with held_open(self._frontier, job):
                await self._give(job, submission)
        return True

    async def _give(self, job: str, submission: Submission) -> None:
        """A job's first requests; what it has already counts once. Then it may complete."""
        origin = submission.labels.get(RETRY_OF, "")
        if submission.seeds:
            await self._push(seeds_of_urls(submission.seeds, Defaults(job=job)))
        elif origin and await self._has_failed(origin):
            await copy_failed(self._frontier, origin, to=job)
        else:
            await self._frontier.add([Request.start(job)])
        await self._frontier.jobs.release_hold(job, SEEDING)

    async def show(self, job: str) -> JobView:
        """A job as it is now; raises UnknownJob."""
        kept = await self._store.read(lambda found: read_job(found, job))
        try:
            record = await self._frontier.jobs.record(job)
        except UnknownJob:
            if kept is None:
                raise
            return kept
        view = await self._view(record, kept)
        submission = kept.submission if kept else Submission.of_job(record.job)
        return replace(view, submission=submission, hint=await self._hint(record, view))

    async def list(self, *, after: str | None = None, limit: int = 50, **filters: Any) -> JobPage:
        """Jobs that fit, newest first; filters are those of `Filters`."""
        wanted = Filters(**filters)
        if after is not None:
            read_place(after)
        await self._projection.catch_up()
        found = await self._store.read(
            lambda rows: find_jobs(rows, wanted, after=after, limit=limit)
        )
        shown = await self._refresh(found.jobs)
        return JobPage([view for view in shown if wanted.fit(view)], found.next)

    async def count(self, **filters: Any) -> Count:
        """How many jobs fit: all of them by columns, else counted up to a bound."""
        wanted = Filters(**filters)
        return await self._store.read(lambda rows: count_jobs(rows, wanted))

    async def totals(self, *, project: str | None = None) -> dict[str, int]:
        """How many jobs there are in each state, the ended ones by outcome, at no cost."""
        rows = await self._store.read(lambda found: read_totals(found, project))
        totals: dict[str, int] = {}
        for state, outcome, number in rows:
            name = outcome or state
            totals[name] = totals.get(name, 0) + number
        return totals

    async def pause(self, job: str) -> JobView:
        """Lease nothing more of it; workers give back what they have not started."""
        return await self._changed(await self._frontier.jobs.pause(await self._live(job)))

    async def resume(self, job: str) -> JobView:
        """Go on with a paused job."""
        return await self._changed(await self._frontier.jobs.resume(await self._live(job)))

    async def stop(self, job: str) -> JobView:
        """End it now, as cancelled; what is queued is thrown away."""
        return await self._changed(await self._frontier.jobs.stop(await self._live(job)))

    async def reprioritise(self, job: str, priority: int) -> JobView:
        """Give all that it has queued another priority."""
        live = await self._live(job)
        return await self._changed(await self._frontier.jobs.reprioritise(live, priority))

    async def peek(self, job: str, limit: int = 20) -> _Requests:
        """What is upcoming for a job."""
        return await self._frontier.stats.peek(await self._live(job), limit=limit)

    async def errors(self, job: str) -> dict[str, int]:
        """What went wrong in a job, by reason and error, counted."""
        try:
            return await self._frontier.stats.errors(job)
        except UnknownJob:
            if not await self._store.read(lambda found: is_kept(found, job)):
                raise
            return await self._store.read(lambda found: read_errors(found, job))

    async def add_seeds(self, job: str, urls: AsyncIterable[str]) -> Tally:
        """Push URLs, or JSON objects of requests, as they come; raises JobEnded."""
        await self._live(job)
        async with held_open(self._frontier, job):
            return await self._push(_seeds(urls, Defaults(job=job)))

    async def clone(self, job: str, **edits: Any) -> JobView:
        """Submit a job once more, with some of its submission's fields changed."""
        submission = (await self.show(job)).submission
        assert submission is not None  # noqa: S101 - show always has one
        try:
            wanted = replace(submission, **({"id": None} | edits))
        except TypeError as error:
            raise BadSubmission(reason=str(error)) from error
        return await self.submit(wanted)

    async def retry_failed(self, job: str) -> JobView:
        """Only what failed, again: in the same job while it lives, else in a new one.

        The new job has the old one's fields, and its id in the label `retry_of`.
        """
        shown = await self.show(job)
        if not await self._has_failed(job):
            raise NothingFailed(job=job)
        if not shown.ended:
            await replay_failed(self._frontier, job)
            return await self.show(job)
        assert shown.submission is not None  # noqa: S101 - show always has one
        labels = shown.labels | {RETRY_OF: job}
        again = replace(shown.submission, id=None, seeds=(), labels=labels, unique=False)
        return await self.submit(again)

    async def delete(self, job: str) -> None:
        """Forget an ended job, with its history and its dead letters. Its items stay."""
        shown = await self.show(job)
        if not shown.ended:
            raise JobLive(job=job, state=shown.state)
        with suppress(UnknownJob):
            await discard_failed(self._frontier, job)
            await self._frontier.jobs.forget(job)
        await self._store.write(lambda found: delete_job(found, job))

    def events(self, *, after: str = "$", job: str | None = None) -> AsyncGenerator[JobEvent, None]:
        """What happens to jobs, as it happens, from now on or after an event by its id."""
        return self._frontier.events.listen(after=after, job=job)

    async def _has_failed(self, job: str) -> bool:
        try:
            return await self._frontier.dead.last_ms(job) > 0
        except UnknownJob:
            return False

    async def _push(self, seeds: _Seeds) -> Tally:
        tally = Tally()
        push = Push(self._frontier, tally=tally, batch=SEEDS_AT_ONCE, on_group=lambda _: None)
        await push.run([seeds])
        return tally

    async def _reserve(self, digest: str, job: str) -> None:
        """Take a unique submission's name, unless a live job, or one just being made, has it."""
        holder, age_ms = await self._frontier.jobs.reserve(digest, job)
        while holder:
            try:
                ended = (await self._frontier.jobs.record(holder)).state == "ended"
            except UnknownJob:
                ended = age_ms > RESERVED_MS
            if not ended:
                raise JobStands(job=holder)
            holder, age_ms = await self._frontier.jobs.reserve(digest, job, instead=holder)

    async def _live(self, job: str) -> str:
        """A job's id; one that the server has forgotten has ended."""
        try:
            await self._frontier.jobs.known(job)
        except UnknownJob:
            kept = await self._store.read(lambda found: read_job(found, job))
            if kept is None:
                raise
            raise JobEnded(job=job, outcome=kept.outcome) from None
        return job

    async def _changed(self, record: JobRecord) -> JobView:
        await self._projection.write(record)
        return await self.show(record.job.id)

    async def _hint(self, record: JobRecord, view: JobView) -> str:
        if record.state == "ended" and not view.ended:
            return "it has run, and waits for an orchestrator to judge it by its gates"
        if record.state != "running" or view.figures.leased:
            return ""
        return hint_of(record.job, await self._frontier.workers.list())

    async def _refresh(self, views: _Views) -> _Views:
        """What has not ended as far as the store knows, read from the server, all in one."""
        live = [view.id for view in views if not view.ended]
        records = await self._frontier.jobs.records(live)
        stats = await self._frontier.stats.of_all(list(records.values()))
        now = {
            job: view_of(record, figures)
            for (job, record), figures in zip(records.items(), stats, strict=True)
        }
        return [now.get(view.id, view) for view in views]

    async def _view(self, record: JobRecord, kept: JobView | None) -> JobView:
        if kept and kept.ended and kept.version >= record.version:
            return kept
        return view_of(record, await self._frontier.stats.of(record))


async def _seeds(urls: AsyncIterable[str], defaults: Defaults) -> AsyncGenerator[list[Seed], None]:
    number = 0
    async for text in urls:
        number += 1
        if line := text.strip():
            yield [seed_of_line(line, defaults, source="line", number=number)]


def new_id(spider: str) -> str:
    """An id that sorts by time and that nobody else has."""
    name = re.sub(r"[^A-Za-z0-9.]+", "-", spider).strip("-.")[:80] or "job"
    return f"{name}-{datetime.now(UTC):%y%m%d-%H%M%S}-{secrets.token_hex(3)}"
