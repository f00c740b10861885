"""What waits, and for whom: for workers, or for its hosts' pace. Read for all live jobs at once.

Records of jobs do not change in what is read here, so each is read once.
"""

from __future__ import annotations

import asyncio
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING

import ormsgpack

from skitter.frontier.job import Job

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skitter.frontier.shards import Shards

AT_ONCE = 250


@dataclass(frozen=True, slots=True)
class LiveJob:
    """A live job by what it runs."""

    no: str
    id: str
    spider: str
    lane: str


@dataclass(frozen=True, slots=True)
class Depth:
    """A job's counters over all shards, in the order in which depths.lua gives them."""

    queued: int = 0
    leased: int = 0
    delayed: int = 0
    accepted: int = 0
    done: int = 0
    buried: int = 0
    discarded: int = 0
    retries: int = 0
    crashes: int = 0
    pages: int = 0

    def plus(self, counters: Sequence[bytes | None]) -> Depth:
        """With what one more shard has."""
        pairs = zip(astuple(self), counters, strict=True)
        return Depth(*(before + int(more or 0) for before, more in pairs))

    @property
    def settled(self) -> int:
        """Requests that have ended."""
        return self.done + self.buried + self.discarded

    @property
    def pending(self) -> int:
        """Requests that have not."""
        return self.accepted - self.settled


@dataclass(frozen=True, slots=True)
class Waiting:
    """Hosts that could be asked now and are not; until when none can, None with nothing there."""

    ready_hosts: int
    overdue_ms: int
    next_ms: int | None


class Pressure:
    """One process's view of it."""

    def __init__(self, shards: Shards) -> None:
        self._shards = shards
        self._known: list[dict[str, LiveJob]] = [{} for _ in range(shards.count)]

    async def jobs(self) -> list[LiveJob]:
        """All live jobs."""
        homes = await asyncio.gather(*(self._live(home) for home in range(self._shards.count)))
        return [job for jobs in homes for job in jobs]

    async def depths(self, jobs: Sequence[LiveJob]) -> dict[str, Depth]:
        """The counters of jobs, by id."""
        found = {job.id: Depth() for job in jobs}
        for first in range(0, len(jobs), AT_ONCE):
            part = jobs[first : first + AT_ONCE]
            data = ormsgpack.packb([job.no for job in part])
            replies = await asyncio.gather(
                *(
                    self._shards.run(shard, "depths", data, clocked=False)
                    for shard in range(self._shards.count)
                )
            )
            for reply in replies:
                for job, counters in zip(part, reply, strict=True):
                    found[job.id] = found[job.id].plus(counters)
        return found

    async def waiting(self, lanes: Sequence[str]) -> Waiting:
        """What waits in some lanes."""
        ready, overdue, soonest = 0, 0, -1
        for first in range(0, len(lanes), AT_ONCE):
            data = ormsgpack.packb(list(lanes[first : first + AT_ONCE]))
            for shard in range(self._shards.count):
                reply = await self._shards.run(shard, "pressure", data)
                hosts, waited, wait = map(int, reply)
                ready, overdue = ready + hosts, max(overdue, waited)
                if wait >= 0:
                    soonest = wait if soonest < 0 else min(soonest, wait)
        return Waiting(ready, overdue, None if soonest < 0 else soonest)

    async def _live(self, home: int) -> list[LiveJob]:
        prefix = self._shards.prefixes[home]
        nos = [no.decode() for no in await self._shards.command("ZRANGE", f"{prefix}live", 0, -1)]
        known = {no: job for no, job in self._known[home].items() if no in set(nos)}
        unread = [no for no in nos if no not in known]
        for first in range(0, len(unread), AT_ONCE):
            part = unread[first : first + AT_ONCE]
            data = ormsgpack.packb(part)
            replies = await self._shards.run(home, "job_read", data, clocked=False)
            for no, reply in zip(part, replies, strict=True):
                if reply:  # else it was forgotten meanwhile
                    job = Job.loads(reply)
                    known[no] = LiveJob(no, job.id, job.spider, job.lane)
        self._known[home] = known
        return list(known.values())
