"""When Scrapy is done with a request.

`_handle_downloader_output` is wrapped on the engine's instance: its Deferred fires when callback or
errback have ended, every request they made has been enqueued and every pipeline is through.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from twisted.internet.defer import Deferred, succeed
from twisted.python.failure import Failure

from skitter.engine.settling import Result, Settler, text_of, verdict_of
from skitter.engine.visit import CURRENT

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Request as ScrapyRequest

    from skitter.engine.crawl import Crawl
    from skitter.engine.visit import Visit


class Handling:
    """Takes the place of the engine's own method, and settles what it is done with."""

    def __init__(self, crawl: Crawl, settler: Settler) -> None:
        self._crawl = crawl
        self._settler = settler
        self._handle: Callable[[Result, ScrapyRequest], Deferred[None]]

    def hook(self) -> None:
        """Take the place, and listen."""
        engine: Any = self._crawl.crawler.engine
        self._handle = engine._handle_downloader_output  # noqa: SLF001 - there is no public hook
        engine._handle_downloader_output = self.handle  # noqa: SLF001
        self._settler.listen()

    def handle(self, result: Result, request: ScrapyRequest) -> Deferred[None]:
        """What the downloader gave goes to Scrapy, as this request's visit."""
        visit = self._crawl.visits.get(request)
        if visit is None:
            return self._handle(result, request)
        visit.verdict = verdict_of(result)
        if visit.verdict:
            self._settler.end(visit, result, request)
            return succeed(None)
        before = CURRENT.set(visit)
        try:
            handled = self._handle(result, request)
        finally:
            CURRENT.reset(before)
        return handled.addBoth(self._end_visit, visit, result, request)

    def _end_visit(
        self, outcome: Any, visit: Visit, result: Result, request: ScrapyRequest
    ) -> None:
        if isinstance(outcome, Failure):
            visit.fail("engine", text_of(outcome.value))
        self._settler.end(visit, result, request)
