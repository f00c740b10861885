"""A lane's crawler: Scrapy's own engine, in the loop of the process, on what the process shares."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.crawler import Crawler

from skitter.engine.process import SETTING
from skitter.worker.project import add_addon

if TYPE_CHECKING:
    from skitter.engine.process import Process
    from skitter.frontier.lanes import LaneSpec
    from skitter.worker.project import Project

OPEN_S = 60.0


class CrawlerLane:
    """A crawler that is at work."""

    def __init__(self, crawler: Crawler, crawling: asyncio.Task[None]) -> None:
        self._crawler = crawler
        self._crawling = crawling

    @classmethod
    async def open(cls, spec: LaneSpec, *, project: Project, process: Process) -> CrawlerLane:
        """Start a spider with its arguments; raises what keeps it from starting."""
        settings = project.settings.copy()
        settings.set(SETTING, process, priority="cmdline")
        settings.set("SKITTER_ARGS", spec.args, priority="cmdline")
        crawler = Crawler(project.spiders[spec.spider], settings)
        add_addon(crawler.settings, priority="cmdline")  # a spider may have add-ons of its own
        started = asyncio.Event()

        def note() -> None:
            started.set()

        crawler.signals.connect(note, signal=signals.engine_started)
        crawling = asyncio.create_task(crawler.crawl_async(**spec.args), name=f"lane {spec.lane}")
        try:
            await _either(started, crawling)
        except BaseException:
            crawling.cancel()
            raise
        return cls(crawler, crawling)

    async def ended(self) -> None:
        """Return when the crawler has ended; raises what ended it."""
        await self._crawling

    async def close(self) -> None:
        """Let it finish what it has in hand, and end it."""
        # Between the signal that it starts and its start lie a few turns of the loop.
        while not (self._crawler.engine.running or self._crawling.done()):  # noqa: ASYNC110
            await asyncio.sleep(0)
        await self._crawler.stop_async()


async def _either(started: asyncio.Event, crawling: asyncio.Task[None]) -> None:
    """Wait until a crawler has started, or raise why it has not."""
    waiting = asyncio.create_task(started.wait())
    try:
        done, _ = await asyncio.wait(
            {waiting, crawling}, timeout=OPEN_S, return_when=asyncio.FIRST_COMPLETED
        )
    finally:
        waiting.cancel()
    if crawling in done:
        await crawling
    if not done:
        raise TimeoutError(f"the spider did not open within {OPEN_S:g} s")
