"""When a crawler is no longer needed, and what a spider means by closing.

A crawler of its own (`scrapy crawl`) ends with its job; a worker's is ended by the worker. What
closes a spider from within a visit (CloseSpider, CLOSESPIDER_*) speaks of the job of the request in
hand, so that job is stopped, for all workers.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import structlog

from skitter.engine.joining import join
from skitter.engine.visit import CURRENT
from skitter.engine.watching import Watch
from skitter.errors import FrontierError
from skitter.frontier import Job
from skitter.intake.declaring import gates_text

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from skitter.engine.crawl import Crawl
    from skitter.frontier.job import Outcome

log = structlog.get_logger(__name__)

# How Scrapy itself ends a crawler, whatever the state of its job.
_PLAIN = ("shutdown", "finished")
_OUTCOMES: dict[str, Outcome] = {
    "closespider_timeout": "expired",
    "closespider_timeout_no_item": "quality failed",
    "closespider_pagecount_no_item": "quality failed",
    "closespider_errorcount": "failed",
    "closespider_itemcount": "limit reached",
    "closespider_pagecount": "limit reached",
}


class Closing:
    """Joins the job, and hears the engine's orders to close."""

    def __init__(self, crawl: Crawl, *, wake: Callable[[], None], busy: Callable[[], bool]) -> None:
        self._crawl = crawl
        self._wake = wake
        self._busy = busy
        self.opening = False
        self.asked = ""
        """Why somebody wants to close while all is opening: it is opened first, and then closed."""
        self._reason = ""
        self._ended = False
        self._closing: asyncio.Future[None] | None = None
        self._watch: Watch | None = None
        self._before: Callable[[], Awaitable[None]]
        self._close_spider: Callable[..., Awaitable[None]]

    @property
    def over(self) -> bool:
        """Whether nothing more is to be expected of the job."""
        return self._ended or (self._watch is not None and self._watch.over)

    def stir(self) -> None:
        """A request came from outside of any visit: the job is not idle."""
        if self._watch:
            self._watch.stir()

    async def open(self, *, own: bool, before: Callable[[], Awaitable[None]]) -> None:
        """Join the job, if the crawler is there for one; `before` hands back what was not begun."""
        self._before = before
        engine: Any = self._crawl.crawler.engine
        self._close_spider = engine.close_spider_async
        engine.close_spider_async = self.close_spider
        for host, policy in self._crawl.tuning.hosts.items():
            await self._crawl.process.frontier.hosts.set_policy(host, policy)
        if own:  # a worker says it for its lanes
            declared = gates_text(type(self._crawl.crawler.spider), self._crawl.args)
            self._crawl.process.intake.declare(self._crawl.lane, declared)
            await self._join()

    async def close(self) -> None:
        """Watch no more."""
        if self._watch:
            await self._watch.close()

    async def close_spider(self, *, reason: str = "cancelled") -> None:
        """In place of the engine's own."""
        if self.opening:
            self.asked = self.asked or reason
            return
        visit = CURRENT.get()  # it may be over by now: Scrapy closes in a task of its own
        job = visit.job if visit else self._crawl.job
        if reason not in _PLAIN and job and (visit or reason in _OUTCOMES):
            if self._watch is None:
                await self._stop_job(job, reason)
                return
            self._reason = self._reason or reason
            # Nothing more begins here, however long the server takes to hear of it.
            await asyncio.gather(self._before(), self._stop_job(job, reason))
        if self._closing is None:
            self._closing = asyncio.ensure_future(self._close(self._reason or reason))
        # Whoever comes second waits for all of it too: Scrapy's own lets the process end before.
        await asyncio.shield(self._closing)

    async def _close(self, reason: str) -> None:
        """What was not begun is handed back while the engine waits for what was."""
        handing_back = asyncio.ensure_future(self._before())
        try:
            await self._close_spider(reason=reason)
        finally:
            await asyncio.gather(handing_back, return_exceptions=True)

    async def _stop_job(self, job: str, reason: str) -> None:
        log.info("job is stopped by its spider", job=job, reason=reason)
        outcome = _OUTCOMES.get(reason, "cancelled")
        try:
            await self._crawl.process.frontier.jobs.stop(job, outcome=outcome)
        except FrontierError as error:
            log.error("job could not be stopped", job=job, error=str(error))  # noqa: TRY400

    async def _join(self) -> None:
        crawl = self._crawl
        job = Job(
            id=crawl.crawler.settings.get("SKITTER_JOB") or "",
            spider=str(crawl.crawler.spidercls.name),
            args=crawl.args,
            **{"robots": crawl.settings.politeness.robots} | crawl.tuning.job,
        )
        record = await join(crawl.process.frontier, job)
        crawl.job = record.job.id
        self._watch = Watch(
            crawl,
            wake=self._wake,
            hand_back=self._before,
            busy=self._busy,
            close_spider=self.close_spider,
        )
        if record.state == "ended":
            log.warning("job has ended already", job=crawl.job, outcome=record.outcome)
            self._ended = True
        else:
            log.info("job joined", job=crawl.job, spider=job.spider, state=record.state)
            self._watch.begin()
