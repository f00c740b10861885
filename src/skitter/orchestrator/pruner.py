"""Throws away what was kept long enough: history, items, dead letters, audit and log lines.

Little at a time: a round deletes some hundreds of each, or looks at some thousands of items, and
the next goes on.
"""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import structlog
from sqlalchemy import select

from skitter.access import Audit
from skitter.errors import MissingExtra, SinkError
from skitter.jobs.rows import delete_job
from skitter.masking import mask_text
from skitter.orchestrator.alert_rows import delete_events
from skitter.orchestrator.schedule_rows import delete_ticks
from skitter.sinks.forgetting import can_forget, forget_items
from skitter.sinks.paging import Beginning
from skitter.store.tables_jobs import jobs

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from sqlalchemy import Connection

    from skitter.frontier import Frontier
    from skitter.settings import Settings
    from skitter.store import Store

log = structlog.get_logger(__name__)

AT_ONCE = 500
ITEMS_AT_ONCE = 5_000
DAY_S = 86_400.0


class Pruner:
    """By the settings of `retention`; what has no number there is kept for ever."""

    def __init__(self, frontier: Frontier, store: Store, settings: Settings) -> None:
        self._frontier = frontier
        self._store = store
        self._settings = settings
        self._keep = settings.retention
        self._places: dict[str, str] = {}

    async def tend(self) -> int:
        """One round; how much was thrown away."""
        gone = {
            "jobs": await self._jobs(),
            "ticks": await self._ticks(),
            "dead letters": await self._dead_letters(),
            "items": await self._items(),
            "audit lines": await self._audit(),
            "log files": await self._logs(),
        }
        if any(gone.values()):
            log.info("kept long enough", **{name: n for name, n in gone.items() if n})
        return sum(gone.values())

    async def _jobs(self) -> int:
        if self._keep.jobs_days is None:
            return 0
        before_ms = _before_ms(self._keep.jobs_days)
        return await self._store.write(lambda found: delete_jobs(found, before_ms=before_ms))

    async def _ticks(self) -> int:
        if self._keep.ticks_days is None:
            return 0
        before = datetime.now(UTC) - timedelta(days=self._keep.ticks_days)
        before_ms = _before_ms(self._keep.ticks_days)

        def write(connection: Connection) -> int:
            events = delete_events(connection, before_ms=before_ms, limit=AT_ONCE)
            return events + delete_ticks(connection, before, limit=AT_ONCE)

        return await self._store.write(write)

    async def _dead_letters(self) -> int:
        """Of live jobs, that is: those of ended ones go with their jobs."""
        if self._keep.dead_letters_days is None:
            return 0
        than_ms = _before_ms(self._keep.dead_letters_days)
        letters = await self._frontier.dead.older(than_ms=than_ms)
        return sum(await self._frontier.dead.discard(letters)) if letters else 0

    async def _items(self) -> int:
        if self._keep.items_days is None:
            return 0
        before = datetime.now(UTC) - timedelta(days=self._keep.items_days)
        sinks = [url for url in self._settings.items.sink if can_forget(url)]
        return sum([await asyncio.to_thread(self._forget, url, before) for url in sinks])

    def _forget(self, url: str, before: datetime) -> int:
        """A part of a sink, from where the last round ended."""
        beginning = Beginning(self._places.get(url, ""), ITEMS_AT_ONCE)
        try:
            gone, self._places[url] = forget_items(url, before, beginning)
        except (SinkError, MissingExtra) as error:
            log.warning("items were not thrown away", sink=mask_text(url), error=str(error))
            return 0
        return gone

    async def _audit(self) -> int:
        if self._keep.audit_days is None:
            return 0
        before_ms = _before_ms(self._keep.audit_days)
        return await Audit(self._store).prune(before_ms=before_ms, limit=AT_ONCE)

    async def _logs(self) -> int:
        file = self._settings.log.file
        if self._keep.logs_days is None or file is None:
            return 0
        return await asyncio.to_thread(
            delete_files, _rotated(file), older_s=self._keep.logs_days * DAY_S
        )


def delete_jobs(connection: Connection, *, before_ms: int) -> int:
    """Forget jobs that ended long ago; how many there were.

    What ended then was made before: the index by time leads to these, and to no others.
    """
    query = (
        select(jobs.c.id)
        .where(jobs.c.created_ms < before_ms)
        .where(jobs.c.ended_ms > 0, jobs.c.ended_ms < before_ms)
        .order_by(jobs.c.created_ms)
        .limit(AT_ONCE)
    )
    return sum(delete_job(connection, row.id) for row in connection.execute(query).all())


def delete_files(files: Iterable[Path], *, older_s: float) -> int:
    """Delete files that nobody has written to for so long; how many."""
    old = [file for file in files if time.time() - file.stat().st_mtime > older_s]
    for file in old:
        file.unlink(missing_ok=True)
    return len(old)


def _rotated(file: Path) -> list[Path]:
    """Log files that were put aside: the name that they had, and a number."""
    pattern = f"{file.name.replace('{pid}', '*')}.[0-9]*"
    return sorted(file.parent.glob(pattern))


def _before_ms(days: float) -> int:
    return int((time.time() - days * DAY_S) * 1000)
