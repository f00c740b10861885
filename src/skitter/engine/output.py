"""What a callback gives: requests and items, taken in one by one as they come.

Scrapy starts a queue and a task for each of CONCURRENT_ITEMS for every response; most of its CPU
on a page of links goes there. Here requests are enqueued in the loop that reads the callback's
output, and only items whose pipelines may wait get tasks. A callback that gives very many requests
is held up while the buffers are full.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

import structlog
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Request as ScrapyRequest
from scrapy.utils.asyncgen import as_async_generator
from scrapy.utils.defer import aiter_errback, iter_errback

from skitter.engine.listeners import only_offsite_hears
from skitter.engine.offsite import Offsite
from skitter.engine.visit import current

if TYPE_CHECKING:
    from collections.abc import Callable

    from skitter.engine.crawl import Crawl
    from skitter.engine.visit import Visit

log = structlog.get_logger(__name__)

# From here on what a page gave is handed over before the page has ended.
CHUNK = 500


class Output:
    """Takes the place of the scraper's own handling."""

    def __init__(self, crawl: Crawl, *, enqueue: Callable[[ScrapyRequest], bool]) -> None:
        self._crawl = crawl
        self._enqueue = enqueue
        engine: Any = crawl.crawler.engine
        self._engine = engine
        self._scraper: Any = self._engine.scraper
        # Our own pipeline is always there, and never waits long.
        self._alone = len(self._scraper.itemproc.middlewares) == 1
        chain = self._engine.downloader.middleware.middlewares
        self._checks = [one.process_request for one in chain if isinstance(one, Offsite)]

    def hook(self) -> None:
        """Take the place of the scraper's method."""
        self._scraper.handle_spider_output_async = self.handle

    async def handle(self, result: Any, request: Any, response: Any) -> None:
        """Take in all that a callback or an errback gives."""
        failed = self._scraper.handle_spider_error
        if isinstance(result, AsyncIterator):
            await self._take_later(aiter_errback(result, failed, request, response), response)
            return
        outputs = iter_errback(result, failed, request, response)
        await self._take_later(as_async_generator(outputs), response)

    async def _take_later(self, outputs: AsyncIterator[Any], response: Any) -> None:
        visit = current()
        try:
            await self._take(outputs, response, visit)
        except Exception as error:
            # Scrapy would log it and go on, and the page would pass for done.
            if visit:
                visit.fail("engine", f"{type(error).__name__}: {error}")
            raise

    async def _take(self, outputs: AsyncIterator[Any], response: Any, visit: Visit | None) -> None:
        items = Items(self._scraper, response)
        crawl = self._crawling()
        async for output in outputs:
            if isinstance(output, ScrapyRequest):
                crawl(output)
            elif output is not None:
                await items.begin(output, at_once=self._alone)
            if visit:
                page = visit.page
                if len(page.children) >= CHUNK or len(page.items) >= CHUNK:
                    await self._crawl.process.intake.room(page)
        await items.finish()

    def _crawling(self) -> Callable[[ScrapyRequest], None]:
        """How requests are taken in: by the engine, or without its signals if nobody hears them."""
        self._crawl.harvest()
        if not only_offsite_hears(self._crawl.crawler):
            crawl: Callable[[ScrapyRequest], None] = self._engine.crawl
            return crawl
        return self._crawl_quietly

    def _crawl_quietly(self, request: ScrapyRequest) -> None:
        try:
            for check in self._checks:
                check(request)
        except IgnoreRequest:
            return
        self._enqueue(request)


class Items:
    """The items of one response in their pipelines, CONCURRENT_ITEMS at a time."""

    def __init__(self, scraper: Any, response: Any) -> None:
        self._scraper = scraper
        self._response = response
        self._tasks: set[asyncio.Task[None]] = set()

    async def begin(self, item: Any, *, at_once: bool) -> None:
        """Process an item, or begin to."""
        if at_once:
            await self._scraper.start_itemproc_async(item, response=self._response)
            return
        if len(self._tasks) >= self._scraper.concurrent_items:
            await asyncio.wait(self._tasks, return_when=asyncio.FIRST_COMPLETED)
        process = self._scraper.start_itemproc_async(item, response=self._response)
        task = asyncio.create_task(process)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        """One that was cancelled tells nobody, and its item is not kept."""
        self._tasks.discard(task)
        visit = current()
        if task.cancelled() and visit:
            log.error("item lost, for what its pipeline waited for was cancelled")
            visit.fail("item", "CancelledError: what its pipeline waited for was cancelled")

    async def finish(self) -> None:
        """Wait for all that was begun."""
        if self._tasks:
            await asyncio.wait(self._tasks)
