"""Watches the job of a `scrapy crawl`: it ends, it idles, it reaches a limit.

`spider_idle` means that there is nothing left to do, for any worker. Where a spider or an extension
listens to it, the job is held open until it has been asked: it may bring more requests.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import structlog
from scrapy import signals

from skitter.engine.listeners import is_heard
from skitter.errors import FrontierError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine

    from skitter.engine.crawl import Crawl
    from skitter.frontier.stats import JobStats

log = structlog.get_logger(__name__)

LOOK_S = 0.5
HOLD_MS = 15_000
_LIMITS = {"items": "closespider_itemcount", "errors": "closespider_errorcount"}
_FIGURES = {"items": "items", "errors": "spider_errors"}


class Watch:
    """Looks at the job every half second."""

    def __init__(
        self,
        crawl: Crawl,
        *,
        wake: Callable[[], None],
        hand_back: Callable[[], Awaitable[None]],
        busy: Callable[[], bool],
        close_spider: Callable[..., Coroutine[Any, Any, None]],
    ) -> None:
        self._crawl = crawl
        self._wake = wake
        self._hand_back = hand_back
        self._busy = busy
        self._close_spider = close_spider
        self._closing: asyncio.Task[None] | None = None
        self._ended = False
        self._idle = False
        self._stirred = False
        self._held_at = 0.0
        self._task: asyncio.Task[None] | None = None
        self._hold = f"idle {crawl.process.frontier.worker}"

    @property
    def over(self) -> bool:
        """Whether the job has ended, or has nothing left to do unless somebody brings it."""
        return self._ended or self._idle

    def stir(self) -> None:
        """Somebody brought something."""
        self._idle, self._stirred = False, True

    def begin(self) -> None:
        """Watch in a task of its own."""
        self._task = asyncio.create_task(self._run(), name="skitter job watch")

    async def close(self) -> None:
        """Watch no more, and let go of the job."""
        if self._task:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
        if self._held_at:
            with suppress(FrontierError):
                await self._crawl.process.frontier.jobs.release_hold(self._crawl.job, self._hold)

    async def look(self) -> None:
        """Look once."""
        frontier, job = self._crawl.process.frontier, self._crawl.job
        record = await frontier.jobs.record(job)
        if record.state == "ended":
            log.info("job has ended", job=job, outcome=record.outcome)
            self._ended = True
            await self._hand_back()
            return
        if self._listened_to or self._crawl.tuning.close_on:
            await self._hold_open()
            quiet, self._stirred = not self._busy(), False
            stats = await frontier.stats.job(job)
            self._check_limits(stats)
            quiet = quiet and not self._stirred and stats.pending == 0
            self._idle = self._listened_to and quiet

    async def _run(self) -> None:
        while not self._ended:
            try:
                await self.look()
            except FrontierError as error:
                log.warning("job could not be looked at", error=str(error))
            if self.over:
                self._wake()
            await asyncio.sleep(LOOK_S)

    @property
    def _listened_to(self) -> bool:
        return is_heard(self._crawl.crawler, signals.spider_idle)

    async def _hold_open(self) -> None:
        if not self._listened_to or time.monotonic() < self._held_at + HOLD_MS / 3000:
            return
        await self._crawl.process.frontier.jobs.hold(self._crawl.job, self._hold, ms=HOLD_MS)
        self._held_at = time.monotonic()

    def _check_limits(self, stats: JobStats) -> None:
        """Limits that a spider's settings name count over all workers."""
        for name, most in self._crawl.tuning.close_on.items():
            reached = name in _LIMITS and stats.figures.get(_FIGURES[name], 0) >= most
            if reached and self._closing is None:
                # To close waits for this very loop, so it is not waited for.
                self._closing = asyncio.create_task(self._close_spider(reason=_LIMITS[name]))
