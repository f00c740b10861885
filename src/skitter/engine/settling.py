"""What becomes of a request when its visit is over.

Errors that Scrapy logs and swallows (in callbacks and pipelines) are heard by their signals and
kept with the visit. What a spider addressed to another spider is placed before its page is settled.
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
from twisted.python.failure import Failure

from skitter.engine.joining import HOLD_MS, job_for
from skitter.engine.log_lines import shorten_failures
from skitter.engine.verdicts import Disallowed, GivenUp, NotSent, TryLater
from skitter.engine.visit import Visit, current
from skitter.errors import FrontierError, SkitterError
from skitter.policies.failures import REDIRECTS, SIZE, classify

if TYPE_CHECKING:
    from skitter.engine.crawl import Crawl

log = structlog.get_logger(__name__)

OWN_TROUBLE_MS = 5_000
TOO_MANY_REDIRECTS = "max redirections reached"
"""What Scrapy's middleware says."""
Result = Response | ScrapyRequest | Failure


class Settler:
    """Ends the visits of one crawler."""

    def __init__(self, crawl: Crawl) -> None:
        self._crawl = crawl
        self._others: dict[str, tuple[str, float]] = {}
        self.ending: set[asyncio.Task[None]] = set()

    def listen(self) -> None:
        """Hear of errors that Scrapy swallows; those of sites are told in a line."""
        shorten_failures()
        crawler = self._crawl.crawler
        crawler.signals.connect(self._spider_error, signal=signals.spider_error)
        crawler.signals.connect(self._item_error, signal=signals.item_error)

    def conclude(self, visit: Visit) -> None:
        """Settle a visit that is over."""
        visit.over = True
        if not visit.strangers:
            self._settle(visit)
            return
        task = asyncio.create_task(self._place_strangers(visit))
        self.ending.add(task)
        task.add_done_callback(self.ending.discard)

    def end(self, visit: Visit, result: Result, request: ScrapyRequest) -> None:
        """A visit is over: judge what the downloader gave, and settle."""
        self._crawl.visits.pop(request, None)
        try:
            self._judge(visit, result, request)
        except Exception as error:  # a page must end one way or the other
            log.exception("page could not be judged", url=request.url)
            visit.fail("engine", text_of(error))
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
        reason = _reason_of(error)
        if not reason:
            visit.count("disallowed" if isinstance(error, Disallowed) else "ignored")
        elif request.errback is not None or visit.exhausted:
            visit.count("failures")
        else:
            visit.exhausted = (reason, text_of(error))

    def _settle(self, visit: Visit) -> None:
        intake, page, verdict = self._crawl.process.intake, visit.page, visit.verdict
        if isinstance(verdict, NotSent):
            intake.release(page)
            return
        if items := page.stored + len(page.items):
            visit.count("items", items)
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
            # A request that cannot be stored is a fault in the callback's code.
            kind = "callback" if reason == "unstorable" else reason
            decision = self._crawl.process.retry.decide(visit.page.request.attempts, reason=kind)
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
            visit.fail("engine", text_of(error))
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
            visit.fail("callback", text_of(failure.value))

    def _item_error(self, failure: Failure) -> None:
        visit = current()
        if visit:
            visit.count("item_errors")
            visit.fail("item", text_of(failure.value))


def _reason_of(error: BaseException) -> str:
    """Why a fetch failed; an empty text if its request was ignored on purpose.

    Scrapy ignores bombs and endless redirects in the same way, but those are the site's failures.
    """
    if not isinstance(error, IgnoreRequest):
        return classify(error)
    if str(error) == TOO_MANY_REDIRECTS:
        return REDIRECTS
    return SIZE if classify(error) == SIZE else ""


def verdict_of(result: Result) -> Exception | None:
    """What the downloader says of a request that is not for the spider.

    Trouble of our own, such as a server that is away, is no failure of the page either.
    """
    error = result.value if isinstance(result, Failure) else None
    if isinstance(error, SkitterError):
        return TryLater("engine", wait_ms=OWN_TROUBLE_MS, error=text_of(error))
    return error if isinstance(error, NotSent | TryLater | GivenUp) else None


def text_of(error: BaseException | None) -> str:
    """An error as settlements tell it."""
    return f"{type(error).__name__}: {error}"


def failure() -> Failure:
    """The exception that is being handled, as errbacks get it."""
    return Failure()  # type: ignore[no-untyped-call]
