"""Retries by Skitter's policy in the place of Scrapy's RetryMiddleware.

A leased request that failed for a reason that may pass is not made anew: it goes back to the
frontier and waits out its back-off there. After its last attempt the spider sees the response or
the error, as in Scrapy, and the request is kept as a dead letter unless a callback took it. What
was not leased (media, inline downloads) is tried again at once, as Scrapy does it.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from scrapy.downloadermiddlewares.retry import RetryMiddleware
from scrapy.utils.python import global_object_name
from scrapy.utils.response import response_status_message

from skitter.engine.crawl import Crawl
from skitter.engine.verdicts import GivenUp, NotSent, TryLater
from skitter.errors import SkitterError

if TYPE_CHECKING:
    from scrapy import Request as ScrapyRequest
    from scrapy.http import Response

    from skitter.engine.visit import Visit
    from skitter.policies.retry import Decision, RetryRules

logger = logging.getLogger(RetryMiddleware.__module__)


class Retry(RetryMiddleware):
    """Stands where Scrapy's own stood."""

    def process_response(
        self,
        request: ScrapyRequest,
        response: Response,
        spider: Any = None,  # noqa: ARG002 - Scrapy's signature
    ) -> ScrapyRequest | Response:
        """Raise TryLater, or let it pass."""
        visit = self._visit(request)
        if visit is None:
            return super().process_response(request, response)
        if request.meta.get("dont_retry") or response.status not in self.retry_http_codes:
            return response
        decision = self._rules.decide(
            visit.page.request.attempts,
            status=response.status,
            retry_after=response.headers.get(b"Retry-After") or b"",
            most=_most(request),
        )
        told = response_status_message(response.status)
        self._act(visit, decision, told=told, error=f"HTTP {response.status}")
        return response

    def process_exception(
        self,
        request: ScrapyRequest,
        exception: Exception,
        spider: Any = None,  # noqa: ARG002 - Scrapy's signature
    ) -> ScrapyRequest | Response | None:
        """The same for an exception."""
        visit = self._visit(request)
        if visit is None:
            return super().process_exception(request, exception)
        if isinstance(exception, NotSent | GivenUp | SkitterError):
            return None  # no failure of the site's
        if request.meta.get("dont_retry") or not isinstance(exception, self.exceptions_to_retry):
            return None
        decision = self._rules.decide(
            visit.page.request.attempts, error=exception, most=_most(request)
        )
        told = global_object_name(type(exception))
        self._act(visit, decision, told=told, error=f"{type(exception).__name__}: {exception}")
        return None

    def _act(self, visit: Visit, decision: Decision, *, told: str, error: str) -> None:
        """`told` is the reason in Scrapy's words, for its stats."""
        stats = self.crawler.stats
        if decision.action == "retry":
            stats.inc_value("retry/count")
            stats.inc_value(f"retry/reason_count/{told}")
            self._tell(visit, logging.DEBUG, "Retrying", told)
            raise TryLater(decision.reason, wait_ms=decision.wait_ms, error=error)
        if decision.action == "bury":
            stats.inc_value("retry/max_reached")
            visit.exhausted = (decision.reason, error)
            level = self.give_up_log_level
            number = logging.getLevelName(level) if isinstance(level, str) else level
            self._tell(visit, number, "Gave up retrying", told)

    def _tell(self, visit: Visit, level: int, what: str, reason: str) -> None:
        """As Scrapy says it; giving up at the level that RETRY_GIVE_UP_LOG_LEVEL names."""
        stored = visit.page.request
        logger.log(
            level,
            "%(what)s <%(method)s %(url)s> (failed %(times)d times): %(reason)s",
            {
                "what": what,
                "method": stored.method,
                "url": stored.url,
                "times": stored.attempts + 1,
                "reason": reason,
            },
            extra={"spider": self.crawler.spider},
        )

    def _visit(self, request: ScrapyRequest) -> Visit | None:
        return Crawl.of(self.crawler).visits.get(request)

    @property
    def _rules(self) -> RetryRules:
        return Crawl.of(self.crawler).process.retry


def _most(request: ScrapyRequest) -> int | None:
    """The request's own bound: Scrapy counts retries, we count attempts."""
    times = request.meta.get("max_retry_times")
    return None if times is None else int(times) + 1
