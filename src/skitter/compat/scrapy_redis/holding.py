"""Holds a job open while there may be more to do than is queued.

A hold ends by itself a while after whoever renewed it is gone.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from typing import TYPE_CHECKING

import structlog

from skitter.errors import FrontierError

if TYPE_CHECKING:
    from skitter.engine.crawl import Crawl
    from skitter.frontier import Frontier

log = structlog.get_logger(__name__)

HOLD_MS = 15_000
START_URLS = "start urls"
"""The hold of a spider that waits for them."""
LOOK_S = 0.5


class Hold:
    """This process's hold on one job at a time."""

    def __init__(self, frontier: Frontier, name: str, *, ms: int = HOLD_MS) -> None:
        self._frontier = frontier
        self._name = f"{name} {frontier.worker}"
        self._ms = ms
        self._job = ""
        self._renew_at = 0.0

    async def keep(self, job: str) -> bool:
        """Hold a job, or go on holding it; False if it has ended."""
        now = time.monotonic()
        if job == self._job and now < self._renew_at:
            return True
        self._job, self._renew_at = job, now + self._ms / 3000
        if await self._frontier.jobs.hold(job, self._name, ms=self._ms):
            return True
        self._job = ""
        return False

    async def release(self) -> None:
        """Let go, if the server is there to hear it."""
        if self._job:
            with suppress(FrontierError):
                await self._frontier.jobs.release_hold(self._job, self._name)


class Lingering:
    """Keeps a job for SCHEDULER_IDLE_BEFORE_CLOSE seconds after it has run out of work."""

    def __init__(self, crawl: Crawl, *, seconds: float) -> None:
        self._crawl = crawl
        self._name = f"idle wait {crawl.process.frontier.worker}"
        self._ms = round(1000 * (seconds + LOOK_S))
        self._task: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """Look every half second, in a task of its own."""
        self._task = asyncio.create_task(self._run(), name="skitter idle wait")

    async def close(self) -> None:
        """Look no more; the hold runs out by itself."""
        if self._task:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self) -> None:
        going = True
        while going:
            try:
                going = await self._look()
            except FrontierError as error:
                log.warning("job could not be looked at", error=str(error))
            await asyncio.sleep(LOOK_S)

    async def _look(self) -> bool:
        """Hold the job on while it has work; False when it has ended."""
        frontier, job = self._crawl.process.frontier, self._crawl.job
        if not (await frontier.stats.job(job)).pending:
            return True
        return await frontier.jobs.hold(job, self._name, ms=self._ms)
