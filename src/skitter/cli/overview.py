"""The whole frontier at one moment: what is pending, done and wrong, who works, and on what.

Totals are those of live jobs; past a bound, of the first of them, and then it says so: a look must
stay cheap however many there are.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import asdict, dataclass, field, fields
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from skitter.cli.meter import Reading
from skitter.errors import UnknownJob
from skitter.frontier.embedded_files import SOCKET

if TYPE_CHECKING:
    from collections.abc import Iterable

    from skitter.frontier import Frontier

MOST_JOBS = 500
AT_ONCE = 16


@dataclass(frozen=True, kw_only=True)
class JobLine:
    """A live job, and how far it is."""

    id: str
    spider: str
    state: str
    lane: str
    max_pages: int | None
    reading: Reading


@dataclass(frozen=True, kw_only=True)
class Overview:
    """What `skitter status` shows."""

    server: str
    namespace: str
    live_jobs: int
    dead_letters: int
    hosts: int
    total: Reading
    jobs: list[JobLine] = field(default_factory=list)
    workers: list[dict[str, Any]] = field(default_factory=list)

    @property
    def pages_per_s(self) -> float:
        """As the workers say, over the last minute."""
        return sum(float(said.get("pages_per_s", 0)) for said in self.workers)

    def to_json(self) -> dict[str, Any]:
        """For machines: the names that `skitter status` has on the screen."""
        total = self.total
        return {
            "server": self.server,
            "namespace": self.namespace,
            "pending": total.pending,
            "queued": total.queued,
            "leased": total.leased,
            "delayed": total.delayed,
            "visited": total.pages,
            "items": total.items,
            "errors": total.errors,
            "dead_letters": self.dead_letters,
            "hosts": self.hosts,
            "pages_per_s": round(self.pages_per_s, 2),
            "live_jobs": self.live_jobs,
            "jobs": [_job_values(job) for job in self.jobs],
            "workers": self.workers,
        }


async def look(frontier: Frontier) -> Overview:
    """Ask the frontier for everything."""
    ids = await frontier.jobs.live()
    gate = asyncio.Semaphore(AT_ONCE)

    async def read(job: str) -> JobLine | None:
        async with gate:
            return await _job(frontier, job)

    found = await asyncio.gather(*(read(job) for job in ids[-MOST_JOBS:]))
    jobs = [job for job in found if job is not None]
    server, stats = frontier.shards.server, await frontier.stats.frontier()
    return Overview(
        server=f"{server.kind} {server.version} at {_place(server.name)}",
        namespace=frontier.shards.namespace,
        live_jobs=len(ids),
        dead_letters=stats.dead_letters,
        hosts=await frontier.stats.hosts({job.lane for job in jobs}),
        total=added_up(job.reading for job in jobs),
        jobs=jobs,
        workers=await frontier.workers.list(),
    )


def _place(name: str) -> str:
    """The embedded server goes by its folder's name: the whole path would fill the line."""
    path = PurePath(name)
    return f"{path.parent.name}/{path.name}" if path.name == SOCKET else name


async def _job(frontier: Frontier, job: str) -> JobLine | None:
    """A job's line; None if it is gone meanwhile."""
    try:
        record = await frontier.jobs.record(job)
        stats = await frontier.stats.job(job)
    except UnknownJob:
        return None
    return JobLine(
        id=job,
        spider=record.job.spider,
        state=record.state,
        lane=record.job.lane,
        max_pages=record.job.max_pages,
        reading=Reading.of(stats, at_s=time.monotonic()),
    )


def added_up(readings: Iterable[Reading]) -> Reading:
    """Several jobs as one."""
    found = list(readings)
    names = [entry.name for entry in fields(Reading) if entry.name != "at_s"]
    sums = {name: sum(getattr(reading, name) for reading in found) for name in names}
    return Reading(at_s=time.monotonic(), **sums)


def _job_values(job: JobLine) -> dict[str, Any]:
    figures = asdict(job.reading)
    del figures["at_s"]
    names = ("id", "spider", "state", "max_pages")
    told = {name: getattr(job, name) for name in names}
    return told | figures | {"pending": job.reading.pending}
