"""Ends jobs: exactly when nothing of them is left, when their pages are used up, or in time.

Children count as accepted before their parent counts as settled. So when two readings of all of a
job's shards agree, and what was accepted is what was settled, there was a moment between them at
which the job had nothing left. The shards are then closed to new requests, each on the condition
that its counters still are what was read; only when all are closed does the job's home end it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import structlog

from skitter.errors import UnknownJob
from skitter.frontier.keys import shard_of_job
from skitter.frontier.stats import JobStats, add_counters

if TYPE_CHECKING:
    from skitter.frontier.frontier import Frontier
    from skitter.frontier.live_jobs import JobRecord

log = structlog.get_logger(__name__)

HINTS_A_TICK = 100
ROUND_A_TICK = 20


class Completer:
    """Looks at the jobs that shards say may be complete, and at a few of the others in turn."""

    def __init__(self, frontier: Frontier) -> None:
        self._frontier = frontier
        self._shards = frontier.shards
        self._jobs = frontier.jobs
        self._next: dict[int, int] = {}

    async def tend(self, shard: int) -> None:
        """Complete and expire jobs that this shard knows of."""
        await self._expire(shard)
        prefix = self._shards.prefixes[shard]
        for no in await self._shards.command("ZRANGE", f"{prefix}tell", 0, HINTS_A_TICK - 1):
            await self._jobs.tell(await self._jobs.id_of(no.decode()))
        hinted = await self._shards.command("SPOP", f"{prefix}maybe", HINTS_A_TICK)
        first = self._next.get(shard, 0)
        others = await self._shards.command(
            "ZRANGE", f"{prefix}live", first, first + ROUND_A_TICK - 1
        )
        self._next[shard] = first + ROUND_A_TICK if len(others) == ROUND_A_TICK else 0
        for no in {*hinted, *others}:
            await self._look(no.decode())

    async def complete(self, job: str) -> bool:
        """End a job if nothing of it is left. True if it has ended."""
        record = await self._jobs.record(job)
        if record.state != "running":
            return record.state == "ended"
        counts = await self._read(record)
        if record.job.max_pages is not None:
            if sum(stats.quota_used for stats in counts.values()) >= record.job.max_pages:
                return await self._jobs.end(record, outcome="limit reached")
            await self._balance(record, counts)
        held = int(await self._shards.run(self._home(record), "job_held", record.no))
        if held or any(stats.pending for stats in counts.values()):
            await self._reopen(record)
            return False
        return await self._finish(record, counts)

    async def _finish(self, record: JobRecord, counts: dict[int, JobStats]) -> bool:
        job = record.job.id
        again = await self._jobs.record(job)
        unchanged = (again.version, again.shards) == (record.version, record.shards)
        if not unchanged or await self._read(again) != counts:
            return False
        closed = await self._close(again, counts)
        if closed and await self._jobs.end(again, outcome="finished"):
            log.info("job finished", job=job)
            return True
        await self._jobs.tell(job)
        return False

    async def _reopen(self, record: JobRecord) -> None:
        """A completer that died between closing and deciding leaves shards that take nothing."""
        for shard in record.shards:
            key = f"{self._shards.prefixes[shard]}j:{record.no}"
            if await self._shards.command("HGET", key, "s") == b"c":
                await self._jobs.tell(record.job.id)

    async def _close(self, record: JobRecord, counts: dict[int, JobStats]) -> bool:
        for shard in record.shards:
            accepted = counts[shard].accepted
            if not int(await self._shards.run(shard, "job_close", record.no, accepted)):
                return False
        return True

    async def _balance(self, record: JobRecord, counts: dict[int, JobStats]) -> None:
        """Page quota that lies idle in one shard is what another may be waiting for."""
        for shard, stats in counts.items():
            pool = (
                stats.quota_granted - stats.quota_returned - stats.quota_used - stats.quota_leased
            )
            if pool > 0 and stats.pending == 0:
                await self._jobs.reclaim_quota(record.no, shard)
        for shard, stats in counts.items():
            pool = (
                stats.quota_granted - stats.quota_returned - stats.quota_used - stats.quota_leased
            )
            if pool <= 0 and stats.queued:
                await self._jobs.grant_quota(record.no, shard)

    async def _read(self, record: JobRecord) -> dict[int, JobStats]:
        counts = {}
        for shard in record.shards:
            counts[shard] = JobStats()
            key = f"{self._shards.prefixes[shard]}j:{record.no}"
            add_counters(counts[shard], await self._shards.fields(key))
        return counts

    async def _expire(self, shard: int) -> None:
        for no in await self._shards.run(shard, "expired"):
            job = await self._jobs.id_of(no.decode())
            await self._jobs.stop(job, outcome="expired")
            log.info("job expired", job=job)

    async def _look(self, no: str) -> None:
        try:
            await self.complete(await self._jobs.id_of(no))
        except UnknownJob:
            log.debug("job is gone", no=no)

    def _home(self, record: JobRecord) -> int:
        return shard_of_job(record.no, self._shards.count)
