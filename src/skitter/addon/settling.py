"""When Scrapy is done with a request, and what then becomes of it.

`_handle_downloader_output` is wrapped on the engine's instance: its Deferred fires when callback or
errback have ended, every request they made has been enqueued and every pipeline is through. Errors
that Scrapy logs and swallows before that (in callbacks and pipelines) are heard by their signals
and kept with the visit.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

import structlog
from scrapy import signals
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Request as ScrapyRequest
from scrapy.http import Response
from twisted.internet.defer import Deferred, succeed
from twisted.python.failure import Failure

from skitter.addon.joining import HOLD_MS, job_for
from skitter.addon.verdicts import Disallowed, GivenUp, NotSent, TryLater
from skitter.addon.visit import CURRENT, Visit, current
from skitter.errors import FrontierError, SkitterError
from skitter.policies.failures import classify

if TYPE_CHECKING:
    from collections.abc import Callable

    from skitter.addon.crawl import Crawl

log = structlog.get_logger(__name__)

OWN_TROUBLE_MS = 5_000
Result = Response | ScrapyRequest | Failure


class Settler:
    """Ends the visits of one crawler."""

    def __init__(self, crawl: Crawl) -> None:
        self._crawl = crawl
        self._handle: Callable[[Result, ScrapyRequest], Deferred[None]]
        self._others: dict[str, tuple[str, float]] = {}
        self.ending: set[asyncio.Task[None]] = set()

    def hook(self) -> None:
        """Take the place of the engine's own method, and listen."""
        crawler = self._crawl.crawler
        engine: Any = crawler.engine
        self._handle = engine._handle_downloader_output  # noqa: SLF001 - there is no public hook
        engine._handle_downloader_output = self.handle  # noqa: SLF001
        crawler.signals.connect(self._spider_error, signal=signals.spider_error)
        crawler.signals.connect(self._item_error, signal=signals.item_error)

    def handle(self, result: Result, request: ScrapyRequest) -> Deferred[None]:
        """What the downloader gave goes to Scrapy, as this request's visit."""
        visit = self._crawl.visits.get(request)
        if visit is None:
            return self._handle(result, request)
        visit.verdict = verdict_of(result)
        if visit.verdict:
            self._end(visit, result, request)
            return succeed(None)
        before = CURRENT.set(visit)
        try:
            handled = self._handle(result, request)
        finally:
            CURRENT.reset(before)
        return handled.addBoth(self._end_visit, visit, result, request)

    def conclude(self, visit: Visit) -> None:
        """Settle a visit that is over."""
        visit.over = True
        if not visit.strangers:
            self._settle(visit)
            return
        task = asyncio.create_task(self._place_strangers(visit))
        self.ending.add(task)
        task.add_done_callback(self.ending.discard)

    def _end_visit(
        self, outcome: Any, visit: Visit, result: Result, request: ScrapyRequest
    ) -> None:
        if isinstance(outcome, Failure):
            visit.fail("engine", _text(outcome.value))
        self._end(visit, result, request)

    def _end(self, visit: Visit, result: Result, request: ScrapyRequest) -> None:
        self._crawl.visits.pop(request, None)
        try:
            self._judge(visit, result, request)
        except Exception as error:  # a page must end one way or the other
            log.exception("page could not be judged", url=request.url)
            visit.fail("engine", _text(error))
        self.conclude(visit)

    def _judge(self, visit: Visit, result: Result, request: ScrapyRequest) -> None:
        """Note what the result says of the visit."""
        if visit.verdict:
            return
        if isinstance(result, ScrapyRequest):
            visit.count("redirects" if "redirect_times" in result.meta else "replaced")
        elif isinstance(result, Response):
            visit.count(f"status_{result.status // 100}xx")
            visit.count("bytes", len(result.body))
        else:
            self._judge_failure(visit, result.value, request)

    @staticmethod
    def _judge_failure(visit: Visit, error: Any, request: ScrapyRequest) -> None:
        if isinstance(error, Disallowed):
            visit.count("disallowed")
        elif isinstance(error, IgnoreRequest):
            visit.count("ignored")
        elif request.errback is not None or visit.exhausted:
            visit.count("failures")
        else:
            visit.exhausted = (classify(error), _text(error))

    def _settle(self, visit: Visit) -> None:
        intake, page, verdict = self._crawl.process.intake, visit.page, visit.verdict
        if isinstance(verdict, NotSent):
            intake.release(page)
            return
        if page.items:
            visit.count("items", len(page.items))
        self._crawl.known.settled(page)
        outcome, reason, error, wait_ms = self._outcome(visit)
        intake.settle(
            page,
            outcome,
            page_given=visit.given,
            reason=reason,
            error=error,
            retry_ms=wait_ms,
            figures=visit.figures,
        )

    def _outcome(self, visit: Visit) -> tuple[Any, str, str, int]:
        verdict = visit.verdict
        if isinstance(verdict, TryLater):
            return "retry", verdict.reason, verdict.error, verdict.wait_ms
        if isinstance(verdict, GivenUp):
            return "bury", verdict.reason, verdict.error, 0
        if visit.trouble:
            reason, error = visit.trouble
            decision = self._crawl.process.retry.decide(visit.page.request.attempts, reason=reason)
            return decision.action, reason, error, decision.wait_ms
        if visit.exhausted and not visit.given:
            return "bury", *visit.exhausted, 0
        return "done", "", "", 0

    async def _place_strangers(self, visit: Visit) -> None:
        """Requests to other spiders go to jobs of theirs, before their parent is settled."""
        try:
            for spider, children in visit.strangers.items():
                job = await self._job_of(spider, visit.job)
                for child in children:
                    child.job = job
                visit.page.children += children
        except FrontierError as error:
            visit.fail("engine", _text(error))
        self._settle(visit)

    async def _job_of(self, spider: str, asked_by: str) -> str:
        """Looked up anew well before the job could end under us."""
        job, until = self._others.get(spider, ("", 0.0))
        if time.monotonic() > until:
            job = await job_for(self._crawl.process.frontier, spider, asked_by=asked_by)
            self._others[spider] = (job, time.monotonic() + HOLD_MS / 3000)
        return job

    def _spider_error(self, failure: Failure) -> None:
        visit = current()
        if visit:
            visit.count("spider_errors")
            visit.fail("callback", _text(failure.value))

    def _item_error(self, failure: Failure) -> None:
        visit = current()
        if visit:
            visit.count("item_errors")
            visit.fail("item", _text(failure.value))


def verdict_of(result: Result) -> Exception | None:
    """What the downloader says of a request that is not for the spider.

    Trouble of our own, such as a server that is away, is no failure of the page either.
    """
    error = result.value if isinstance(result, Failure) else None
    if isinstance(error, SkitterError):
        return TryLater("engine", wait_ms=OWN_TROUBLE_MS, error=_text(error))
    return error if isinstance(error, NotSent | TryLater | GivenUp) else None


def _text(error: BaseException | None) -> str:
    return f"{type(error).__name__}: {error}"
