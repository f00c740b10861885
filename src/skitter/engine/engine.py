"""The fast engine: takes pages from the intake, and visits each in a task of its own.

To spiders, pipelines, middlewares and extensions it is `crawler.engine`: what Scrapy documents of
its engine is here under the same names. Scrapy's parts that work once a page or less (its scraper,
its middlewares) are used as they are; what works for every link is not.
"""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import AsyncExitStack, ExitStack
from typing import TYPE_CHECKING, Any

import structlog
from scrapy import signals
from scrapy.core.scraper import Scraper
from scrapy.exceptions import CloseSpider, DontCloseSpider, IgnoreRequest
from scrapy.http import Request as ScrapyRequest
from scrapy.http import Response
from scrapy.pipelines import ItemPipelineManager
from twisted.python.failure import Failure

from skitter.engine.closing import Closing
from skitter.engine.crawl import Crawl
from skitter.engine.downloading import Downloading
from skitter.engine.enqueuing import Enqueuing
from skitter.engine.exits import check_schemes
from skitter.engine.links import Links
from skitter.engine.links import is_plain as has_plain_links
from skitter.engine.listeners import Hearing
from skitter.engine.old_ways import OldWays, call_with_spider
from skitter.engine.output import Output
from skitter.engine.pipeline import SinkPipeline
from skitter.engine.process import SETTING, open_process
from skitter.engine.settling import Settler
from skitter.engine.starting import Starter
from skitter.engine.visit import Visit, current
from skitter.engine.visiting import Visiting
from skitter.frontier.urls import START

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from skitter.intake import Lane, Page

log = structlog.get_logger(__name__)
logger = logging.getLogger("scrapy.core.engine")

READY = 64


class Engine(OldWays):
    """One crawler's engine. The crawler has its spider and its settings already."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self.settings = crawler.settings
        self.signals = crawler.signals
        self.logformatter = crawler.logformatter
        self.spider = crawler.spider
        self.running = False
        self.paused = False
        self.start_time: float | None = None
        self._crawl = Crawl.of(crawler)
        self._hears = Hearing(crawler)
        self.downloader = Downloading(self._crawl, self._hears)
        self.scraper = Scraper(crawler)
        self._settler = Settler(self._crawl)
        self._starter = Starter(self._crawl, settle=self._settler.conclude)
        self._starter.meanwhile = self._wake
        self._closing = Closing(self._crawl, wake=self._wake, busy=self._busy)
        self._enqueuing = Enqueuing(self._crawl, stir=self._closing.stir, wake=self._wake)
        self._most = self._crawl.tuning.in_flight or self._crawl.settings.worker.concurrency
        self._flying = 0
        self._heaviest = self.settings.getint("SCRAPER_SLOT_MAX_ACTIVE_SIZE")
        self._held_back = False
        self._waking = False
        self._visits: set[asyncio.Task[None]] = set()
        self._ended = asyncio.Event()
        self._stack = AsyncExitStack()
        self.at_end = ExitStack()
        """What is closed when the engine has ended."""
        self._lane: Lane | None = None
        self._own = False
        self._visiting: Visiting

    async def open(self) -> None:
        """Open what the crawler needs, tell that the spider is open, and begin to take pages."""
        crawl = self._crawl
        self._stack.enter_context(self.at_end)
        given = self.settings.get(SETTING)
        self._own = given is None
        crawl.process = given or await self._stack.enter_async_context(
            open_process(crawl.settings, concurrency=max(self._most, READY))
        )
        try:
            unwanted = await self._open_spider()
        except BaseException:
            await self._quietly(self.downloader.close_async())
            await self._stack.aclose()
            raise
        self.running, self._closing.opening = True, False
        if reason := unwanted or self._closing.asked:
            await self.close_spider_async(reason=reason)
            return
        self._lane = crawl.process.intake.lane(crawl.lane, wake=self._wake, room=self._room)
        self._wake()

    async def run(self) -> None:
        """Open, work until the spider is closed, and return."""
        await self.open()
        await self._ended.wait()

    async def ended(self) -> None:
        """Return when the spider is closed."""
        await self._ended.wait()

    def crawl(self, request: ScrapyRequest) -> None:
        """Take a request in, as one of the page in hand or of the job."""
        heard = self._hears(signals.request_scheduled) or self.downloader.offsite
        if heard and self._is_refused(request):
            return
        kept = self._enqueuing.enqueue(request)
        if not kept and self._hears(signals.request_dropped):
            self.signals.send_catch_log(
                signals.request_dropped, request=request, spider=self.spider
            )

    async def download_async(self, request: ScrapyRequest) -> Response:
        """Fetch something outside of the queue; only downloader middlewares see it."""
        while True:
            found = await self.downloader.chain(request)
            if isinstance(found, Response):
                self._visiting.received(found, request)
                return found
            request = found

    def needs_backout(self) -> bool:
        """Whether no more requests can be sent at the moment."""
        return not self.running or self._flying >= self._most

    def spider_is_idle(self) -> bool:
        """Whether nothing is in hand."""
        return not self._busy()

    def pause(self) -> None:
        """Take no more pages."""
        self.paused = True

    def unpause(self) -> None:
        """Go on."""
        self.paused = False
        self._wake()

    async def stop_async(self) -> None:
        """Close the spider, for the crawler ends."""
        await self.close_spider_async(reason="shutdown")

    async def close_async(self, *, reason: str = "shutdown") -> None:
        """The same, for a reason."""
        await self.close_spider_async(reason=reason)

    async def close_spider_async(self, *, reason: str = "cancelled") -> None:
        """Finish what was begun, then close everything. `Closing` stands before this."""
        if not self.running:
            return
        self._tell("Closing spider (%s)", reason)
        try:
            await self._finish()
            await self._quietly(self.scraper.close_spider_async())
            await self.signals.send_catch_log_async(
                signal=signals.spider_closed, spider=self.spider, reason=reason
            )
            call_with_spider(self.crawler.stats.close_spider, self.spider, reason=reason)
            self._tell("Spider closed (%s)", reason)
            self.running = self.crawler.crawling = False
            if self.start_time:
                await self.signals.send_catch_log_async(signal=signals.engine_stopped)
        finally:
            self.running = False
            await self._quietly(self.downloader.close_async())
            await self._stack.aclose()
            self._ended.set()

    async def _finish(self) -> None:
        """What is in hand is visited to its end, settled and, for a crawl of its own, stored."""
        await self._hand_back()
        while self._visits:
            await asyncio.wait(set(self._visits))
        await self._closing.close()
        await self._enqueuing.finish()
        await asyncio.gather(*self._settler.ending, return_exceptions=True)
        if self._own:
            await self._crawl.process.intake.drain(self._crawl.settings.worker.grace_s)

    async def _hand_back(self) -> None:
        """What was not begun goes to other workers at once."""
        lane, self._lane = self._lane, None
        self.downloader.stop_waiting()
        await self._starter.stop()
        if lane:
            await lane.close()

    async def _open_spider(self) -> str:
        """Open the parts; why one of them does not want to go on, or an empty text."""
        crawl = self._crawl
        check_schemes(crawl.process.proxies)
        self._settler.listen()
        Output(crawl, enqueue=self._enqueuing.enqueue).hook()
        self._closing.opening = True
        await self._closing.open(own=self._own, before=self._hand_back)
        self.downloader.open()
        self._visiting = self._make_visiting()
        self._note_given()
        refusal = await self._open_parts()
        if not refusal:
            self.start_time = time.time()
            await self.signals.send_catch_log_async(signal=signals.engine_started)
            self.downloader.straighten()
            self._visiting.download = self.downloader.download
        return refusal

    async def _open_parts(self) -> str:
        """All of them, so that each is closed too, whichever of them does not want to go on."""
        refusals = []
        self._tell("Spider opened")
        try:
            await self.scraper.open_spider_async()
        except CloseSpider as refusal:
            refusals.append(refusal)
        call_with_spider(self.crawler.stats.open_spider, self.spider)
        answers = await self.signals.send_catch_log_async(
            signals.spider_opened, spider=self.spider, dont_log=CloseSpider
        )
        refusals += [answer for _, answer in answers if isinstance(answer, CloseSpider)]
        return refusals[0].reason if refusals else ""

    def _note_given(self) -> None:
        """A page counts as given when its response reaches the spider, whichever way."""
        scraper: Any = self.scraper
        call = scraper.call_spider_async

        async def call_spider(result: Any, request: ScrapyRequest) -> Any:
            visit = current()
            if visit and isinstance(result, Response):
                visit.given = True
            return await call(result, request)

        scraper.call_spider_async = call_spider

    def _make_visiting(self) -> Visiting:
        crawl, scraper = self._crawl, self.scraper
        links = None
        if has_plain_links(self.crawler, scraper.spidermw.middlewares):
            links = Links(
                crawl,
                scraper.spidermw.middlewares,
                hears=self._hears,
                crawl_request=self.crawl,
                offsite=self.downloader.offsite,
            )
        pipelines = scraper.itemproc.middlewares
        alone = len(pipelines) == 1 and isinstance(pipelines[0], SinkPipeline)
        alone = alone and type(scraper.itemproc) is ItemPipelineManager
        return Visiting(
            crawl,
            self._settler,
            hears=self._hears,
            download=self.downloader.download,
            links=links,
            sink=pipelines[0] if alone else None,
        )

    def _is_refused(self, request: ScrapyRequest) -> bool:
        answers = self.signals.send_catch_log(
            signals.request_scheduled, request=request, spider=self.spider, dont_log=IgnoreRequest
        )
        return any(
            isinstance(answer, Failure) and isinstance(answer.value, IgnoreRequest)
            for _, answer in answers
        )

    def _wake(self) -> None:
        """Begin all that may begin now; close when there is nothing left to do."""
        self._waking = False
        while page := self._next():
            self._begin(page)
        if self._hears(signals.scheduler_empty) and self._may_begin():
            self.signals.send_catch_log(signals.scheduler_empty)
        if self._own and self.running and self._closing.over and not self._busy():
            self._idle()

    def _may_begin(self) -> bool:
        """Whether a page would begin if there were one."""
        return bool(
            self._lane and not self.paused and self._flying < self._most and not self._held_back
        )

    def _next(self) -> Page | None:
        """A page that may begin now."""
        if not self._lane or self.paused or self._flying >= self._most:
            return None
        self._held_back = self._visiting.weight > self._heaviest
        return None if self._held_back else self._lane.take()

    def _begin(self, page: Page) -> None:
        if page.request.url == START:
            self._starter.begin(Visit(page))
            return
        self._flying += 1
        task = asyncio.create_task(self._visit(page))
        self._visits.add(task)
        task.add_done_callback(self._visited)

    async def _visit(self, page: Page) -> None:
        """One page after the other, as long as there are some: a task for each would cost more."""
        while True:
            await self._visiting.visit(page, self._landed)
            following = self._next()
            if following is None:
                return
            if following.request.url == START:
                self._begin(following)
                return
            self._flying += 1
            page = following

    def _landed(self) -> None:
        """A fetch is over. Its visit goes on with the next page, unless its callback waits."""
        self._flying -= 1
        if not self._waking:
            self._waking = True
            asyncio.get_running_loop().call_soon(self._wake)

    def _visited(self, task: asyncio.Task[None]) -> None:
        self._visits.discard(task)
        if not task.cancelled() and (error := task.exception()):
            log.error("visit failed", exc_info=error)
        if self._held_back or (self._own and self._closing.over):
            self._wake()

    def _room(self) -> int:
        """How many pages are to lie ready: those that could begin now, and some more."""
        return max(0, self._most - self._flying) + max(self._most // 2, READY)

    def _busy(self) -> bool:
        return bool(self._visits or self._enqueuing.busy or self._starter.running)

    def _idle(self) -> None:
        """Nothing is left to do for any worker, unless somebody brings more now."""
        reason = "finished"
        if self._hears(signals.spider_idle):
            answers = self.signals.send_catch_log(
                signals.spider_idle, spider=self.spider, dont_log=(DontCloseSpider, CloseSpider)
            )
            raised = [one.value for _, one in answers if isinstance(one, Failure)]
            if any(isinstance(one, DontCloseSpider) for one in raised) or self._busy():
                return
            reasons = [one.reason for one in raised if isinstance(one, CloseSpider)]
            reason = reasons[0] if reasons else reason
        # Kept, for a task that nobody holds may be collected before it is done.
        self._last = asyncio.ensure_future(self.close_spider_async(reason=reason))

    def _tell(self, text: str, *what: str) -> None:
        """In Scrapy's words, which other programs look for in a log."""
        logger.info(text, *what, extra={"spider": self.spider})

    @staticmethod
    async def _quietly(work: Any) -> None:
        """One part that does not close well keeps no other from closing."""
        try:
            await work
        except Exception:
            log.exception("a part did not close well")
