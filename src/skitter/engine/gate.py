"""robots.txt before a leased request, read in that request's own turn when no worker knows it."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

import structlog
from scrapy.http import Request as ScrapyRequest
from scrapy.http.request import NO_CALLBACK

from skitter.engine.exits import Exit
from skitter.engine.sending import FIRST_BYTES
from skitter.engine.turn import Turn
from skitter.engine.verdicts import ELSEWHERE, Disallowed, GivenUp, NotSent
from skitter.frontier.urls import parse
from skitter.policies.retry import retry_after_ms
from skitter.policies.robots import RobotsAnswer, origin_of

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from scrapy.http import Response

    from skitter.engine.asking import Asking
    from skitter.engine.crawl import Crawl
    from skitter.engine.visit import Visit
    from skitter.frontier import Fetch

log = structlog.get_logger(__name__)


class RobotsGate:
    """Lets through what the origin's robots.txt allows."""

    def __init__(self, crawl: Crawl, asking: Asking) -> None:
        self._crawl = crawl
        self._asking = asking

    async def pass_(self, visit: Visit, request: ScrapyRequest) -> None:
        """Return if it may be asked; raises Disallowed, NotSent or GivenUp."""
        robots = self._crawl.process.robots
        job = (await self._crawl.process.frontier.jobs.known(visit.job)).job
        if not job.robots or request.meta.get("dont_obey_robotstxt"):
            return
        origin = origin_of(visit.page.request.url)
        rules = robots.known(origin)
        if rules is None:
            rules = await robots.rules(origin, fetch=lambda url: self._read(visit, request, url))
        if rules is None:
            raise self._waiting(origin)
        lease = visit.page.lease
        lease.delay_ms = max(lease.delay_ms, rules.delay_ms)
        if not rules.allows(request.url):
            self._crawl.crawler.stats.inc_value("robotstxt/forbidden")
            raise Disallowed

    def _waiting(self, origin: str) -> Exception:
        """The host's queue is held meanwhile, so the request goes back to it."""
        trouble = self._crawl.process.robots.trouble(origin)
        if trouble and trouble.given_up:
            return GivenUp("robots", error=f"{origin}/robots.txt failed {trouble.failures} times")
        return NotSent()

    async def _read(self, visit: Visit, request: ScrapyRequest, url: str) -> RobotsAnswer | None:
        asked = ScrapyRequest(
            url,
            callback=NO_CALLBACK,
            headers={"User-Agent": request.headers.get(b"User-Agent", b"")},
            meta={
                "download_timeout": self._crawl.crawler.settings.getfloat("DOWNLOAD_TIMEOUT"),
                "download_maxsize": 0,
                "download_warnsize": 0,
                FIRST_BYTES: self._crawl.settings.robots.max_bytes,
            },
        )
        if parse(url).host != parse(visit.page.request.url).host:
            return await self._answer(self._asking.permitted(asked), url)
        intake, page = self._crawl.process.intake, visit.page
        if not await intake.paced(page):
            return None
        way = Exit(self._crawl.process.proxies, page.lease.egress, page.lease.host)
        if not intake.may_send(page):
            return None
        return await self._answer(self._ask(visit, asked, way), url)

    async def _ask(self, visit: Visit, asked: ScrapyRequest, way: Exit) -> Response:
        """In the page's turn: the gap to the page itself is counted from this head."""

        def note(fetch: Fetch | None) -> None:
            if fetch:
                visit.page.head_at = time.monotonic() - fetch.ago_ms / 1000

        intake = self._crawl.process.intake
        body = intake.body()
        turn = Turn(body, partial(intake.may_send, visit.page), note)
        try:
            response, fetch = await self._asking.ask(asked, way, turn)
        finally:
            body.let_go()
        if fetch.status == ELSEWHERE:
            raise NotSent
        return response

    @staticmethod
    async def _answer(asking: Awaitable[Response], url: str) -> RobotsAnswer:
        try:
            response = await asking
        except NotSent:
            raise
        except Exception as error:  # noqa: BLE001 - a download handler may raise anything
            log.info("robots.txt could not be read", url=url, error=str(error))
            return RobotsAnswer(0)
        location = response.headers.get(b"Location") or b""
        wait_ms = retry_after_ms(response.headers.get(b"Retry-After") or b"")
        return RobotsAnswer(response.status, response.body, location.decode("latin-1"), wait_ms)
