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
    from skitter.frontier import Frontier
    from skitter.frontier.live_jobs import JobRecord
    from skitter.jobs.view import JobView
    from skitter.store import Store

AT_ONCE = 100


class Projection:
    """Writes jobs' rows."""

    def __init__(self, frontier: Frontier, store: Store) -> None:
        self._frontier = frontier
        self._store = store

    async def write(self, record: JobRecord, *, submission: Submission | None = None) -> JobView:
        """Keep a job as it is now, and say what changed.

        submission is what a new job was made of, where that was more than its record has.
        """
        read_ms = time.time_ns() // 1_000_000
        stats = await self._frontier.stats.of(record)
        view = view_of(record, stats, submission=submission or Submission.of_job(record.job))
        await self._store.write(lambda found: write_job(found, view, read_ms=read_ms))
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
