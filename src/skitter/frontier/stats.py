"""Figures: a job's counters, a shard's totals, what is upcoming. Read from counters and indexes."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from skitter.frontier.request import Request, unpack

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from skitter.frontier.live_jobs import JobRecord, LiveJobs
    from skitter.frontier.shards import Shards

_COUNTERS = {
    "a": "accepted",
    "dn": "done",
    "bu": "buried",
    "di": "discarded",
    "qd": "queued",
    "le": "leased",
    "de": "delayed",
    "rt": "retries",
    "cr": "crashes",
    "pages": "pages",
    "qu": "quota_used",
    "ql": "quota_leased",
    "qr": "quota_granted",
    "qx": "quota_returned",
}
_BANDS = "123"
_NOT_FIGURES = {"s", "v", "spec"}
RESERVED = _NOT_FIGURES | set(_COUNTERS)


@dataclass(slots=True)
class JobStats:
    """A job's counters over all shards.

    accepted = queued + leased + delayed + done + buried + discarded
    """

    accepted: int = 0
    done: int = 0
    buried: int = 0
    discarded: int = 0
    queued: int = 0
    leased: int = 0
    delayed: int = 0
    retries: int = 0
    crashes: int = 0
    pages: int = 0
    quota_used: int = 0
    quota_leased: int = 0
    quota_granted: int = 0
    quota_returned: int = 0
    figures: dict[str, int] = field(default_factory=dict)

    @property
    def settled(self) -> int:
        """Requests that have ended, one way or the other."""
        return self.done + self.buried + self.discarded

    @property
    def pending(self) -> int:
        """Requests that have not ended."""
        return self.accepted - self.settled


@dataclass(frozen=True, slots=True)
class FrontierStats:
    """The whole frontier, now. leased counts permits too; workers are those that hold either."""

    live_jobs: int
    leased: int
    delayed: int
    dead_letters: int
    workers: int


class Stats:
    """Reads figures; changes nothing."""

    def __init__(self, shards: Shards, jobs: LiveJobs) -> None:
        self._shards = shards
        self._jobs = jobs

    async def job(self, job: str) -> JobStats:
        """A job's counters, added up over its shards."""
        return await self.of(await self._jobs.record(job))

    async def of(self, record: JobRecord) -> JobStats:
        """The same of a job whose record is at hand."""
        [stats] = await self.of_all([record])
        return stats

    async def of_all(self, records: Sequence[JobRecord]) -> list[JobStats]:
        """The same of many: each shard is asked once for a hundred of them."""
        totals = [JobStats() for _ in records]
        places: dict[int, list[int]] = {}
        for place, record in enumerate(records):
            for shard in record.shards:
                places.setdefault(shard, []).append(place)

        async def read(shard: int, mine: Sequence[int]) -> None:
            names = [f"j:{records[place].no}" for place in mine]
            for place, fields in zip(mine, await self._shards.hashes(shard, names), strict=True):
                add_counters(totals[place], fields)

        await asyncio.gather(*(read(shard, mine) for shard, mine in places.items()))
        return totals

    async def errors(self, job: str) -> dict[str, int]:
        """What went wrong in a job, by reason and error, counted."""
        record = await self._jobs.record(job)
        counts: Counter[str] = Counter()
        for shard in record.shards:
            for name, value in (
                await self._shards.fields(f"{self._shards.prefixes[shard]}f:{record.no}")
            ).items():
                counts[name] += int(value)
        return dict(counts.most_common())

    async def frontier(self) -> FrontierStats:
        """Totals of all shards."""
        totals: Counter[str] = Counter()
        workers: set[str] = set()
        for prefix in self._shards.prefixes:
            for name, key in (
                ("live", "live"),
                ("leased", "due"),
                ("delayed", "z"),
                ("dead", "xt"),
            ):
                totals[name] += int(await self._shards.command("ZCARD", prefix + key))
            for member in await self._shards.command("ZRANGE", f"{prefix}due", 0, 9999):
                workers.add(member.decode().rpartition("/")[0])
        return FrontierStats(
            live_jobs=totals["live"],
            leased=totals["leased"],
            delayed=totals["delayed"],
            dead_letters=totals["dead"],
            workers=len(workers),
        )

    async def hosts(self, lanes: Iterable[str]) -> int:
        """How many hosts have something queued in these lanes.

        One with requests of very different priorities, or of several lanes, counts in each.
        """
        keys = [f"r{band}{lane}" for lane in lanes for band in _BANDS]
        counts = await asyncio.gather(
            *(
                self._shards.command("ZCARD", prefix + key)
                for prefix in self._shards.prefixes
                for key in keys
            )
        )
        return sum(map(int, counts))

    async def peek(self, job: str, *, limit: int = 20) -> list[Request]:
        """What is upcoming for a job: the heads of its queues at the hosts that are next."""
        record = await self._jobs.record(job)
        found: list[Request] = []
        for shard in record.shards:
            rows = await self._shards.run(shard, "peek", record.no, record.job.lane, limit)
            found += [
                unpack(entry, job=job, host=host.decode(), priority=int(priority))
                for host, priority, entry in zip(rows[::3], rows[1::3], rows[2::3], strict=True)
            ]
        return found[:limit]


def add_counters(total: JobStats, fields: dict[str, bytes]) -> None:
    """Add a shard's counters of a job to a total."""
    for name, value in fields.items():
        if name in _COUNTERS:
            setattr(total, _COUNTERS[name], getattr(total, _COUNTERS[name]) + int(value))
        elif name not in _NOT_FIGURES:
            total.figures[name] = total.figures.get(name, 0) + int(value)
