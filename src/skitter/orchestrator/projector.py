"""Keeps the store's rows of live jobs fresh: changes at once, figures every few seconds.

On its way it finds jobs whose submitters died before all their seeds were there, and goes on.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import structlog

from skitter.errors import JobEnded, UnknownJob
from skitter.jobs.projection import AT_ONCE, Projection
from skitter.jobs.service import Jobs

if TYPE_CHECKING:
    from skitter.frontier import Frontier
    from skitter.settings import Settings
    from skitter.store import Store

log = structlog.get_logger(__name__)

MOST_CHANGES = 20
MOST_FIGURES = 500


class Projector:
    """Writes what has changed since it looked last."""

    def __init__(self, frontier: Frontier, store: Store, settings: Settings) -> None:
        self._frontier = frontier
        self._every_s = settings.jobs.figures_s
        self._projection = Projection(frontier, store)
        self._jobs = Jobs(frontier, store)
        self._looked_at = 0.0
        self._place = 0

    async def tend(self) -> int:
        """Write rows of jobs that changed, and of some live ones; how many."""
        written = 0
        for _ in range(MOST_CHANGES):
            found = await self._projection.catch_up()
            written += found
            if found < AT_ONCE:
                break
        if time.monotonic() - self._looked_at >= self._every_s:
            self._looked_at = time.monotonic()
            written += await self._refresh()
        return written

    async def _refresh(self) -> int:
        """The next of all live jobs; in some rounds all have had their turn."""
        live = await self._frontier.jobs.live_page(self._place, limit=MOST_FIGURES)
        self._place = self._place + MOST_FIGURES if len(live) >= MOST_FIGURES else 0
        for job in live:
            await self._look_after(job)
        return await self._projection.refresh(live)

    async def _look_after(self, job: str) -> None:
        """A job whose submitter died half-way would wait for its seeds for ever."""
        try:
            if await self._jobs.resume_seeding(job):
                log.info("a job's seeding was resumed", job=job)
        except (UnknownJob, JobEnded):
            return
