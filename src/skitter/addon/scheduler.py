"""Scrapy's scheduler on the frontier.

Scrapy asks for the next request and may not wait: the intake has some ready, and wakes the engine
when there are more. Requests that a callback makes stay with its page until the page is settled.
Nothing here raises into the engine: Scrapy would lose a request without a word.
"""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any, Self

import structlog
from scrapy.core.scheduler import BaseScheduler
from scrapy.utils.defer import deferred_from_coro

from skitter.addon.checks import check_engine
from skitter.addon.handling import Handling
from skitter.engine.closing import Closing
from skitter.engine.crawl import Crawl
from skitter.engine.enqueuing import Enqueuing
from skitter.engine.exits import check_schemes
from skitter.engine.output import Output
from skitter.engine.process import SETTING, open_process
from skitter.engine.requests import mark_of
from skitter.engine.settling import Settler
from skitter.engine.starting import Starter
from skitter.engine.verdicts import GivenUp
from skitter.engine.visit import CURRENT, Visit
from skitter.errors import UnrunnableRequest
from skitter.frontier.urls import START

if TYPE_CHECKING:
    from scrapy import Request as ScrapyRequest
    from scrapy import Spider
    from scrapy.crawler import Crawler
    from twisted.internet.defer import Deferred

    from skitter.intake import Lane

log = structlog.get_logger(__name__)


class Scheduler(BaseScheduler):
    """The SCHEDULER of the add-on."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawl = Crawl.of(crawler)
        self._engine: Any = crawler.engine
        self._settler = Settler(self._crawl)
        self._handling = Handling(self._crawl, self._settler)
        self._starter = Starter(self._crawl, settle=self._settler.conclude)
        self._closing = Closing(self._crawl, wake=self._wake, busy=self._busy)
        self._stack = AsyncExitStack()
        self._lane: Lane | None = None
        self._own = False
        self._enqueuing = Enqueuing(self._crawl, stir=self._closing.stir, wake=self._wake)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """As Scrapy makes it."""
        return cls(crawler)

    def open(self, spider: Spider) -> Deferred[None]:  # noqa: ARG002
        """Join the job, hook into the engine, begin to lease."""
        return deferred_from_coro(self._open())

    def close(self, reason: str) -> Deferred[None]:  # noqa: ARG002
        """Settle what is done, hand back the rest, close what was opened here."""
        return deferred_from_coro(self._close())

    def next_request(self) -> ScrapyRequest | None:
        """The next request whose host may be asked now."""
        try:
            return self._next()
        except Exception:
            log.exception("next request could not be had")
            return None

    def enqueue_request(self, request: ScrapyRequest) -> bool:
        """Keep a request with the page that made it, until the page is settled."""
        return self._enqueuing.enqueue(request)

    def has_pending_requests(self) -> bool:
        """Whether this crawler is still needed: its job lives, or something of it is in hand."""
        return not self._closing.over or self._busy()

    def _busy(self) -> bool:
        crawl = self._crawl
        return bool(crawl.visits or self._enqueuing.busy or self._starter.running)

    async def _open(self) -> None:
        check_engine(self._engine)
        crawl = self._crawl
        concurrency = self._engine.downloader.total_concurrency or 16
        given = crawl.crawler.settings.get(SETTING)
        crawl.process = given or await self._stack.enter_async_context(
            open_process(crawl.settings, concurrency=concurrency)
        )
        check_schemes(crawl.process.proxies)
        self._handling.hook()
        Output(crawl, enqueue=self.enqueue_request).hook()
        # The engine would run start() in every worker; here it is a request like any other.
        self._engine._start = None  # noqa: SLF001
        self._own = given is None
        await self._closing.open(own=self._own, before=self._hand_back)
        self._lane = crawl.process.intake.lane(crawl.lane, wake=self._wake, room=self._room)

    async def _close(self) -> None:
        try:
            await self._hand_back()
            await self._closing.close()
            await self._enqueuing.finish()
            await asyncio.gather(*self._settler.ending, return_exceptions=True)
            if self._own:
                # All that the engine had is settled by now, and has only to arrive.
                await self._crawl.process.intake.drain(self._crawl.settings.worker.grace_s)
        finally:
            await self._stack.aclose()

    async def _hand_back(self) -> None:
        """What was not begun goes to other workers at once."""
        self._engine.downloader.stop_waiting()
        await self._starter.stop()
        lane, self._lane = self._lane, None
        if lane:
            await lane.close()

    def _next(self) -> ScrapyRequest | None:
        while self._lane and (page := self._lane.take()):
            visit = Visit(page, mark=mark_of(page.request))
            if page.request.url == START:
                self._starter.begin(visit)
                continue
            try:
                request = self._crawl.codec.restore(page.request)
            except UnrunnableRequest as error:
                log.error("request cannot be run", error=str(error))  # noqa: TRY400
                visit.verdict = GivenUp("unrunnable", error=error.summary)
                self._settler.conclude(visit)
                continue
            self._crawl.visits[request] = visit
            CURRENT.set(visit)  # what the engine now begins for it is its own
            return request
        CURRENT.set(None)
        return None

    def _room(self) -> int:
        """How many pages are to lie ready: those that could begin now, and half as many more."""
        downloader = self._engine.downloader
        most = downloader.total_concurrency or 1_000
        return max(0, most - len(downloader.active)) + most // 2

    def _wake(self) -> None:
        """Have the engine ask again in the loop's next round."""
        if self._engine.running and self._engine._slot:  # noqa: SLF001 - there is no public way
            self._engine._slot.nextcall.schedule()  # noqa: SLF001
