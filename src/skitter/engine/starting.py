"""A job's first request is the run of the spider's `start()`: leased, renewed and settled.

So it runs once in the cluster, and again if its worker died on the way. A spider with a million
seeds hands them over in chunks, and waits while the buffers are full; one that waits for something
has what it gave so far crawled meanwhile.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.exceptions import CloseSpider
from scrapy.http import Request as ScrapyRequest
from twisted.python.failure import Failure

from skitter.engine.visit import CURRENT, Visit
from skitter.errors import FrontierError, SkitterError
from skitter.logs import get_logger

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from skitter.engine.crawl import Crawl
    from skitter.intake import Page

log = get_logger(__name__)

HAND_ON_S = 0.2


class Starter:
    """Runs `start()` for each job whose start request was leased.

    before: awaited for each job. meanwhile: called from time to time while it runs.
    """

    def __init__(self, crawl: Crawl, *, settle: Callable[[Visit], None]) -> None:
        self.before: Callable[[str], Awaitable[None]] | None = None
        self.meanwhile: Callable[[], None] | None = None
        self._crawl = crawl
        self._settle = settle
        self._running: dict[asyncio.Task[None], Visit] = {}
        self._closing: set[asyncio.Task[None]] = set()

    def begin(self, visit: Visit) -> None:
        """Begin in a task of its own."""
        task = asyncio.create_task(self._run(visit), name=f"start of {visit.job}")
        self._running[task] = visit
        task.add_done_callback(self._running.pop)

    @property
    def running(self) -> bool:
        """Whether a `start()` is under way."""
        return bool(self._running)

    async def stop(self) -> None:
        """Hand back what is under way: another worker begins it anew, and adds what is missing."""
        running = dict(self._running)
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    async def _run(self, visit: Visit) -> None:
        CURRENT.set(visit)
        try:
            async with self._handing_on(visit.page):
                await self._consume(visit)
        except asyncio.CancelledError:
            visit.over = True
            self._crawl.process.intake.release(visit.page)
            raise
        except CloseSpider as error:
            self._close(error.reason or "cancelled")
        except SkitterError as error:
            visit.fail("engine", f"{type(error).__name__}: {error}")
        except Exception as error:  # noqa: BLE001 - a spider's code may raise anything
            self._failed(error)
        self._settle(visit)

    def _close(self, reason: str) -> None:
        """In a task of its own: to close ends this one, whose items would be lost."""
        closing = self._crawl.crawler.engine.close_spider_async(reason=reason)
        task = asyncio.ensure_future(closing)
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    @asynccontextmanager
    async def _handing_on(self, page: Page) -> AsyncIterator[None]:
        """Hand on what is there from time to time: `start()` may wait for what comes of it."""
        ended = asyncio.Event()
        handing_on = asyncio.create_task(self._hand_on(page, ended))
        try:
            yield
        except asyncio.CancelledError:  # it begins anew elsewhere
            handing_on.cancel()
            raise
        finally:
            ended.set()
            await asyncio.gather(handing_on, return_exceptions=True)

    async def _hand_on(self, page: Page, ended: asyncio.Event) -> None:
        """What is left in the end goes with the settlement, and so does what cannot be added."""
        while not await _comes(ended, HAND_ON_S):
            children, page.children = page.children, []
            try:
                await self._crawl.process.intake.add_children(page, children)
            except FrontierError as error:
                page.children = children + page.children
                log.warning("requests of start() wait for its end", reason=str(error))
                return
            if self.meanwhile:
                self.meanwhile()

    async def _consume(self, visit: Visit) -> None:
        engine: Any = self._crawl.crawler.engine
        intake = self._crawl.process.intake
        if self.before:
            await self.before(visit.job)
        outputs = await engine.scraper.spidermw.process_start()
        async for output in outputs:
            if isinstance(output, ScrapyRequest):
                engine.crawl(output)
            elif output is not None:
                await engine.scraper.start_itemproc_async(output, response=None)
            await intake.room(visit.page)

    def _failed(self, error: Exception) -> None:
        """As Scrapy's engine tells it."""
        crawler = self._crawl.crawler
        log.error("error in start()", spider=str(crawler.spidercls.name), exc_info=error)
        failure = Failure(error)  # type: ignore[no-untyped-call]
        crawler.signals.send_catch_log(
            signal=signals.spider_error, failure=failure, response=None, spider=crawler.spider
        )
        crawler.stats.inc_value("spider_exceptions/count")
        crawler.stats.inc_value(f"spider_exceptions/{type(error).__name__}")


async def _comes(event: asyncio.Event, within_s: float) -> bool:
    try:
        await asyncio.wait_for(event.wait(), within_s)
    except TimeoutError:
        return False
    return True
