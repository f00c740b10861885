"""From a job's record in the server, which is its truth, to its row in the store.

Any process may write a row, as often as it likes: rows go by version. What a crash left unwritten
is in the index of changes at the job's home, and is caught up with by whoever looks next.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from skitter.errors import UnknownJob
from skitter.jobs.rows import write_job
from skitter.jobs.submission import Submission
from skitter.jobs.view import view_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

    from skitter.frontier import Frontier
    from skitter.frontier.live_jobs import JobRecord
    from skitter.jobs.view import Figures, JobView
    from skitter.store import Store

AT_ONCE = 100
READ_AT_ONCE = 100
REMEMBERED = 50_000


class Projection:
    """Writes jobs' rows."""

    def __init__(self, frontier: Frontier, store: Store) -> None:
        self._frontier = frontier
        self._store = store
        self._last: dict[str, Figures] = {}

    async def write(self, record: JobRecord, *, submission: Submission | None = None) -> JobView:
        """Keep a job as it is now, and say what changed.

        submission is what a new job was made of, where that was more than its record has.
        """
        read_ms = time.time_ns() // 1_000_000
        stats = await self._frontier.stats.of(record)
        view = view_of(record, stats, submission=submission or Submission.of_job(record.job))
        submitted = submission is not None
        await self._store.write(
            lambda found: write_job(found, view, read_ms=read_ms, submitted=submitted)
        )
        if record.state != "ended":  # its end is announced when all is seen to
            await self._frontier.events.announce(record)
        await self._frontier.jobs.kept(record)
        return view

    async def catch_up(self, *, limit: int = AT_ONCE) -> int:
        """Write rows of jobs that changed unseen; how many there were."""
        changed = await self._frontier.jobs.changed(limit=limit)
        for job in changed:
            try:
                await self.write(await self._frontier.jobs.record(job))
            except UnknownJob:
                continue  # forgotten meanwhile, which is done only after its row is there
        return len(changed)

    async def refresh(self, jobs: Sequence[str]) -> int:
        """Write the rows of live jobs whose figures have moved, all in one; how many."""
        read_ms = time.time_ns() // 1_000_000
        moved = []
        for first in range(0, len(jobs), READ_AT_ONCE):
            views = await self._read(jobs[first : first + READ_AT_ONCE])
            moved += [view for view in views if self._last.get(view.id) != view.figures]
        if moved:
            await self._store.write(lambda found: _write_all(found, moved, read_ms))
        if len(self._last) > REMEMBERED:
            self._last.clear()
        self._last |= {view.id: view.figures for view in moved}
        return len(moved)

    async def _read(self, jobs: Sequence[str]) -> list[JobView]:
        records = list((await self._frontier.jobs.records(jobs)).values())
        stats = await self._frontier.stats.of_all(records)
        return [
            view_of(record, figures, submission=Submission.of_job(record.job))
            for record, figures in zip(records, stats, strict=True)
        ]


def _write_all(connection: Connection, views: Sequence[JobView], read_ms: int) -> None:
    for view in sorted(views, key=lambda view: view.id):  # in one order, or two writers lock up
        write_job(connection, view, read_ms=read_ms)
