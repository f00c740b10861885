"""Looks at a job and at who works on it, again and again, and makes snapshots of it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from skitter.cli.meter import Meter, Reading
from skitter.cli.progress import Snapshot, rates_of

if TYPE_CHECKING:
    from skitter.frontier import Frontier
    from skitter.frontier.live_jobs import JobRecord

ERRORS_EVERY_S = 3.0


class Watch:
    """One job under watch; elapsed time counts from its making."""

    def __init__(self, frontier: Frontier, job: str) -> None:
        self._frontier = frontier
        self._job = job
        self._meter = Meter()
        self._begun = time.monotonic()
        self._errors: dict[str, int] = {}
        self._errors_at = float("-inf")
        self.troubles: dict[str, str] = {}
        """What keeps workers from running its spider, as they say."""

    async def look(self, *, note: str = "") -> tuple[JobRecord, Snapshot]:
        """The job as it is now."""
        record = await self._frontier.jobs.record(self._job)
        reading = Reading.of(await self._frontier.stats.job(self._job), at_s=time.monotonic())
        self._meter.note(reading)
        job = record.job
        workers = await self._frontier.workers.list()
        self._note_troubles(job.spider, job.lane, workers)
        snapshot = Snapshot(
            job=job.id,
            spider=job.spider,
            state=note or record.state,
            elapsed_s=reading.at_s - self._begun,
            reading=reading,
            max_pages=job.max_pages,
            hosts=await self._frontier.stats.hosts([job.lane]),
            workers=len(workers),
            errors=await self._read_errors(reading),
            note=next(iter(self.troubles.values()), ""),
            **rates_of(self._meter, max_pages=job.max_pages),
        )
        return record, snapshot

    async def _read_errors(self, reading: Reading) -> dict[str, int]:
        """By reason, looked up now and then."""
        if reading.errors and reading.at_s - self._errors_at > ERRORS_EVERY_S:
            self._errors_at = reading.at_s
            self._errors = by_reason(await self._frontier.stats.errors(self._job))
        return self._errors

    def _note_troubles(self, spider: str, lane: str, workers: list[dict[str, object]]) -> None:
        found: dict[str, str] = {}
        for said in workers:
            errors = said.get("errors")
            for name, error in errors.items() if isinstance(errors, dict) else ():
                if f"({lane})" in name:
                    found["error"] = f"the spider does not start: {error}"
        missing = [name for said in workers for name in _names(said.get("missing"))]
        running = [name for said in workers for name in _spiders(said.get("lanes"))]
        if spider in missing and spider not in running:
            found["missing"] = f"no worker has the spider {spider}"
        self.troubles = found


def by_reason(errors: dict[str, int]) -> dict[str, int]:
    """A job's errors by reason alone: `timeout after 30 s` is a timeout."""
    found: dict[str, int] = {}
    for name, number in errors.items():
        reason = name.partition(" ")[0]
        found[reason] = found.get(reason, 0) + number
    return found


def _names(value: object) -> list[str]:
    return [str(name) for name in value] if isinstance(value, list) else []


def _spiders(value: object) -> list[str]:
    return [str(lane["spider"]) for lane in value] if isinstance(value, list) else []
