"""Ended jobs until they are forgotten: which have to be seen to, how far that is, and what is old.

A job that ends goes into an index at its home. Whoever sees to it notes each step in the job's
record, so that another can go on after a crash; when all is done it waits, as old, to be forgotten.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from skitter.errors import UnknownJob
from skitter.frontier.keys import shard_of_job
from skitter.frontier.live_jobs import record_of
from skitter.frontier.shards import as_fields

if TYPE_CHECKING:
    from skitter.frontier.job import Outcome
    from skitter.frontier.live_jobs import JobRecord, LiveJobs
    from skitter.frontier.shards import Shards


class Endings:
    """What is left to do about ended jobs."""

    def __init__(self, shards: Shards, jobs: LiveJobs) -> None:
        self._shards = shards
        self._jobs = jobs

    async def due(self, *, limit: int) -> list[str]:
        """The ids of some ended jobs that are to be looked at now."""
        return await self._due("ended", limit)

    async def old(self, *, limit: int) -> list[str]:
        """The ids of some that all is done for, and whose time in the server is over."""
        return await self._due("old", limit)

    async def judge(
        self, record: JobRecord, failures: list[dict[str, Any]], *, outcome: Outcome = ""
    ) -> JobRecord:
        """Write down what a job as a whole did not pass, and the outcome that follows from it."""
        flat = await self._shards.run(
            self._home(record), "job_judge", record.no, outcome, json.dumps(failures), clocked=False
        )
        if not flat:
            raise UnknownJob(job=record.job.id)
        return record_of(record.no, as_fields(flat))

    async def note(self, record: JobRecord, name: str, text: str) -> None:
        """Note a step that is done, or how it went so far."""
        await self._seen_to(record, note=(name, text))

    async def later(self, record: JobRecord, *, ms: int) -> None:
        """Something could not be done yet: look again after a while."""
        await self._seen_to(record, index="ended", ms=ms)

    async def done(self, record: JobRecord, *, keep_ms: int) -> None:
        """All is done: it is forgotten after a while."""
        await self._seen_to(record, index="old", ms=keep_ms)

    async def _due(self, index: str, limit: int) -> list[str]:
        found: list[str] = []
        for shard in range(self._shards.count):
            found += await self._jobs.ids_of(await self._shards.run(shard, "job_due", index, limit))
        return found

    async def _seen_to(
        self, record: JobRecord, *, note: tuple[str, str] = ("", ""), index: str = "", ms: int = 0
    ) -> None:
        home = self._home(record)
        await self._shards.run(home, "job_seen_to", record.no, *note, index, ms)

    def _home(self, record: JobRecord) -> int:
        return shard_of_job(record.no, self._shards.count)
