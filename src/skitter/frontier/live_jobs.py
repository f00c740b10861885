"""Live jobs: their records at home, and their copies in the shards that hold requests of them.

The home record has a version. A change is one step at home; then every shard that holds requests
of the job is told, and one that hears of an older version keeps the newer. A caretaker tells again
what a crash left untold. So pausing, stopping or reprioritising costs the same however much is
queued.
"""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import ormsgpack

from skitter.errors import JobEnded, JobInUse, UnknownJob
from skitter.frontier.job import Job, Outcome
from skitter.frontier.keys import shard_of_job
from skitter.frontier.shards import as_fields

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skitter.frontier.shards import Shards

STATES = {"r": "running", "p": "paused", "e": "ended"}
SUBMIT_HOLD = "submit"
SUBMIT_HOLD_MS = 60_000
CACHED = 10_000


@dataclass(frozen=True, slots=True)
class KnownJob:
    """What a process remembers of a job: nothing that changes."""

    no: str
    job: Job

    @property
    def scope(self) -> str:
        """The name of its dedup scope: its own, or one that it shares."""
        return f"@{self.job.dedup}" if self.job.dedup else self.no


@dataclass(frozen=True, slots=True)
class JobRecord:
    """A job as its home has it now. verb is its last change: none yet, or as `_change` has it.

    judged, failures and notes are of what was seen to after its end. declared is what its spider
    asks of the run as a whole, as the first process that ran it said.
    """

    no: str
    job: Job
    state: str
    outcome: Outcome
    version: int
    priority: int
    created_ms: int
    ended_ms: int
    expires_ms: int
    shards: tuple[int, ...]
    verb: str = ""
    judged: bool = False
    failures: list[dict[str, Any]] = field(default_factory=list)
    notes: dict[str, str] = field(default_factory=dict)
    declared: dict[str, Any] = field(default_factory=dict)


class LiveJobs:
    """Submit jobs, change them, hold them open."""

    def __init__(self, shards: Shards) -> None:
        self._shards = shards
        self._known: dict[str, KnownJob] = {}
        self._ids: dict[str, str] = {}

    async def submit(self, job: Job, *, hold_ms: int = SUBMIT_HOLD_MS) -> JobRecord:
        """Write a job's record; one that stands is left as it is.

        It is held open for a minute, or until `release_hold(job)`: time to add its seeds.
        """
        await self.create(job, holds={SUBMIT_HOLD: hold_ms})
        return await self.record(job.id)

    async def create(self, job: Job, *, holds: Mapping[str, int]) -> bool:
        """The same, with first holds of one's own, by name in ms; False if one stood already."""
        reply = await self._shards.run(0, "job_number", job.id, clocked=False)
        no = reply[0].decode()
        expires = -1 if job.expires_s is None else int(job.expires_s * 1000)
        limit = -1 if job.max_pages is None else job.max_pages
        facts = ormsgpack.packb([job.priority, expires, limit, job.lane])
        held = ormsgpack.packb([part for hold in holds.items() for part in hold])
        created = await self._shards.run(
            self._home(no), "job_create", no, job.id, job.dumps(), facts, held
        )
        return bool(created)

    async def known(self, job: str) -> KnownJob:
        """A job by its id; raises UnknownJob."""
        if job not in self._known:
            record = await self.record(job)
            if len(self._known) >= CACHED:
                self._known.clear()
            self._known[job] = KnownJob(record.no, record.job)
        return self._known[job]

    async def id_of(self, no: str) -> str:
        """The id of a job by its number."""
        if no not in self._ids:
            found = await self._shards.command("HGET", f"{self._shards.prefixes[0]}nos", no)
            if found is None:
                raise UnknownJob(job=f"number {no}")
            if len(self._ids) >= CACHED:
                self._ids.clear()
            self._ids[no] = found.decode()
        return self._ids[no]

    async def ids_of(self, nos: Sequence[bytes]) -> list[str]:
        """The ids of jobs by their numbers, but for those that were forgotten meanwhile."""
        found: list[str] = []
        for no in nos:
            with suppress(UnknownJob):
                found.append(await self.id_of(no.decode()))
        return found

    async def record(self, job: str) -> JobRecord:
        """A job's record as it is now; raises UnknownJob."""
        no = await self._shards.command("HGET", f"{self._shards.prefixes[0]}ids", job)
        if no is None:
            raise UnknownJob(job=job)
        number = no.decode()
        key = f"{self._shards.prefixes[self._home(number)]}J:{number}"
        fields = await self._shards.fields(key)
        if not fields:
            raise UnknownJob(job=job)
        return record_of(number, fields)

    async def records(self, jobs: Sequence[str]) -> dict[str, JobRecord]:
        """The same of many at once, by id; those that nobody knows are left out."""
        if not jobs:
            return {}
        nos = await self._shards.command("HMGET", f"{self._shards.prefixes[0]}ids", *jobs)
        homes: dict[int, list[tuple[str, str]]] = {}
        for job, no in zip(jobs, nos, strict=True):
            if no is not None:
                homes.setdefault(self._home(no.decode()), []).append((job, no.decode()))
        found = await asyncio.gather(*(self._records(home, of) for home, of in homes.items()))
        return {job: record for part in found for job, record in part}

    async def _records(
        self, home: int, jobs: Sequence[tuple[str, str]]
    ) -> list[tuple[str, JobRecord]]:
        hashes = await self._shards.hashes(home, [f"J:{no}" for _, no in jobs])
        found = zip(jobs, hashes, strict=True)
        return [(job, record_of(no, fields)) for (job, no), fields in found if fields]

    async def pause(self, job: str) -> JobRecord:
        """Lease nothing more of it; workers give back what they have not started."""
        return await self._change(job, "pause")

    async def resume(self, job: str) -> JobRecord:
        """Go on with a paused job."""
        record = await self._change(job, "resume")
        for shard in record.shards:
            await self._shards.run(shard, "unpark", record.no, 200)
        return record

    async def stop(self, job: str, *, outcome: Outcome = "cancelled") -> JobRecord:
        """End it now; what is queued is thrown away in the background."""
        return await self._change(job, "end", outcome)

    async def reprioritise(self, job: str, priority: int) -> JobRecord:
        """Give all that it has queued another priority."""
        return await self._change(job, "reprioritise", str(priority))

    async def end(self, seen: JobRecord, *, outcome: Outcome) -> bool:
        """End a job unless its record changed since it was seen, or it is held open."""
        answer, record = await self._change_home(seen.no, "end", outcome, seen)
        if record:
            await self._tell(record)
        return answer == "ok"

    async def declare(self, job: str, declared: str) -> None:
        """Write down what its spider asks of a run, as JSON; what was said first stays."""
        no = (await self.known(job)).no
        await self._shards.run(self._home(no), "job_declare", no, declared, clocked=False)

    async def hold(self, job: str, name: str, *, ms: int) -> bool:
        """Hold a job open for a time: it cannot complete meanwhile. False if it has ended."""
        no = (await self.known(job)).no
        return bool(await self._shards.run(self._home(no), "job_hold", no, name, ms))

    async def release_hold(self, job: str, name: str = SUBMIT_HOLD) -> None:
        """Let go of a hold."""
        no = (await self.known(job)).no
        await self._shards.run(self._home(no), "job_hold", no, name, 0)

    async def holds(self, job: str) -> dict[str, int]:
        """What holds a job open, and until when (server ms)."""
        no = (await self.known(job)).no
        await self._shards.run(self._home(no), "job_held", no)  # those that ran out are let go
        key = f"{self._shards.prefixes[self._home(no)]}hold:{no}"
        return {name: int(at) for name, at in await self._shards.scored(key, 0, -1)}

    async def live(self) -> list[str]:
        """The ids of all jobs that have not ended."""
        found: list[str] = []
        for prefix in self._shards.prefixes:
            found += await self.ids_of(await self._shards.command("ZRANGE", f"{prefix}live", 0, -1))
        return found

    async def live_page(self, first: int, *, limit: int) -> list[str]:
        """Some of them, by their places in the index of each home."""
        found: list[str] = []
        for prefix in self._shards.prefixes:
            found += await self.ids_of(
                await self._shards.command("ZRANGE", f"{prefix}live", first, first + limit - 1)
            )
        return found

    async def changed(self, *, limit: int) -> list[str]:
        """The ids of some jobs whose last change the store has not seen."""
        found: list[str] = []
        for prefix in self._shards.prefixes:
            found += await self.ids_of(
                await self._shards.command("ZRANGE", f"{prefix}chg", 0, limit - 1)
            )
        return found

    async def kept(self, record: JobRecord) -> None:
        """The store has this version of a job."""
        home = self._home(record.no)
        await self._shards.run(home, "job_told", record.no, record.version, "chg", clocked=False)

    async def reserve(self, digest: str, job: str, *, instead: str = "") -> tuple[str, int]:
        """Take the name of a unique job. Whose it is, and for how long (ms); empty: the caller's.

        instead is an ended job's id that may have it. Without a job, that one gives it up.
        """
        holder, age_ms = await self._shards.run(0, "job_reserve", digest, job, instead)
        return holder.decode(), int(age_ms)

    async def attach(self, no: str, shard: int) -> None:
        """Make a job known to a shard that is about to hold requests of it."""
        flat = await self._shards.run(self._home(no), "job_attach", no, shard, clocked=False)
        if not flat:
            raise UnknownJob(job=f"number {no}")
        await self._put(shard, record_of(no, as_fields(flat)))

    async def grant_quota(self, no: str, shard: int) -> int:
        """Move page quota from a job's home to a shard; what the shard then has."""
        key = f"{self._shards.prefixes[shard]}j:{no}"
        returned = int(await self._shards.command("HGET", key, "qx") or 0)
        job = (await self.known(await self.id_of(no))).job
        share = max(1, min(64, (job.max_pages or 1) // (4 * self._shards.count)))
        home = self._home(no)
        total = await self._shards.run(home, "job_grant", no, shard, share, returned, clocked=False)
        pool, _ = await self._shards.run(shard, "job_quota", no, int(total))
        if int(pool) > 0:
            await self._shards.run(shard, "unpark", no, 200)
        return int(pool)

    async def reclaim_quota(self, no: str, shard: int) -> None:
        """Move page quota that lies idle in a shard back to the job's home."""
        _, returned = await self._shards.run(shard, "job_quota", no, -1)
        await self._shards.run(
            self._home(no), "job_grant", no, shard, 0, int(returned), clocked=False
        )

    async def tell(self, job: str) -> None:
        """Tell a job's shards again what its home has."""
        await self._tell(await self.record(job))

    async def forget(self, job: str) -> None:
        """Drop all that is kept of an ended job; raises JobInUse while there is something of it.

        Its queues must be swept and its dead letters replayed or discarded. Hosts, and URLs seen
        in a scope with a name, stay.
        """
        record = await self.record(job)
        if record.state != "ended":
            raise JobInUse(job=job, reason=record.state)
        for drop in (0, 1):
            for shard in range(self._shards.count):
                await self._forget_in(shard, record, drop)
        if record.job.unique:
            await self.reserve(record.job.unique, "", instead=job)
        await self._shards.run(self._home(record.no), "job_drop", record.no, clocked=False)
        register = self._shards.prefixes[0]
        await self._shards.command("HDEL", f"{register}ids", job)
        await self._shards.command("HDEL", f"{register}nos", record.no)
        await self._shards.command("HDEL", f"{register}said", record.no)
        self._known.pop(job, None)
        self._ids.pop(record.no, None)

    async def _forget_in(self, shard: int, record: JobRecord, drop: int) -> None:
        left = b"more"
        while left == b"more":
            left = await self._shards.run(shard, "job_forget", record.no, drop, clocked=False)
        if left:
            raise JobInUse(job=record.job.id, reason=left.decode())

    async def _change(self, job: str, verb: str, value: str = "") -> JobRecord:
        known = await self.known(job)
        answer, record = await self._change_home(known.no, verb, value)
        if record is None:
            raise UnknownJob(job=job)
        await self._tell(record)
        if answer == "ended" and verb != "end":
            raise JobEnded(job=job, outcome=record.outcome)
        return record

    async def _change_home(
        self, no: str, verb: str, value: str, seen: JobRecord | None = None
    ) -> tuple[str, JobRecord | None]:
        version, shards = (seen.version, len(seen.shards)) if seen else (-1, -1)
        answer, flat = await self._shards.run(
            self._home(no), "job_change", no, verb, value, version, shards
        )
        return answer.decode(), record_of(no, as_fields(flat)) if flat else None

    async def _tell(self, record: JobRecord) -> None:
        for shard in record.shards:
            await self._put(shard, record)
        home = self._home(record.no)
        await self._shards.run(home, "job_told", record.no, record.version, "tell", clocked=False)

    async def _put(self, shard: int, record: JobRecord) -> None:
        state = {name: letter for letter, name in STATES.items()}[record.state]
        await self._shards.run(shard, "job_put", record.no, record.version, state, _spec(record))

    def _home(self, no: str) -> int:
        return shard_of_job(no, self._shards.count)


def _spec(record: JobRecord) -> bytes:
    """What the scripts need of a job; what is None is left out, for Lua has no null in tables."""
    job = record.job
    fields: dict[str, Any] = {
        "lane": job.lane,
        "priority": record.priority,
        "scope": KnownJob(record.no, job).scope,
        "robots": job.robots,
        "delay": None if job.delay_s is None else int(job.delay_s * 1000),
        "concurrency": job.concurrency,
        "per_host": job.max_per_host,
        "limited": job.max_pages is not None or None,
        "expires": record.expires_ms or None,
    }
    return ormsgpack.packb({name: value for name, value in fields.items() if value is not None})


def record_of(no: str, fields: dict[str, bytes]) -> JobRecord:
    """The record of a hash at its home."""
    return JobRecord(
        no=no,
        job=Job.loads(fields["job"]),
        state=STATES[fields["s"].decode()],
        outcome=fields["outcome"].decode(),  # type: ignore[arg-type]
        version=int(fields["v"]),
        priority=int(fields["priority"]),
        created_ms=int(fields["created"]),
        ended_ms=int(fields.get("ended", 0)),
        expires_ms=int(fields.get("expires", 0)),
        shards=tuple(sorted(int(name[3:]) for name in fields if name.startswith("at:"))),
        verb=fields.get("by", b"").decode(),
        judged="judged" in fields,
        failures=json.loads(fields.get("failures", b"[]")),
        declared=json.loads(fields.get("declared", b"{}")),
        notes={name[2:]: text.decode() for name, text in fields.items() if name[:2] == "n:"},
    )
