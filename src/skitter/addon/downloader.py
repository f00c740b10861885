"""Scrapy's downloader with the frontier's pace in place of its slots.

The chain of downloader middlewares is Scrapy's own; what lies behind it is here. A leased request
is asked in its host's turn: robots.txt first, then after the host's delay, and only while its lease
is sure. Anything else (media, inline downloads) takes a permit. A response is handed to the spider
when there is room for what it will give.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.core.downloader import Downloader as ScrapyDownloader
from scrapy.exceptions import DownloadTimeoutError
from scrapy.utils.defer import _process_pending_io
from scrapy.utils.httpobj import urlparse_cached

from skitter.addon.crawl import Crawl
from skitter.addon.exits import Exit
from skitter.addon.gate import RobotsGate
from skitter.addon.verdicts import ELSEWHERE, NotSent
from skitter.addon.visit import CURRENT
from skitter.frontier import Fetch
from skitter.policies.proxies import DIRECT
from skitter.policies.retry import retry_after_ms

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scrapy import Request as ScrapyRequest
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.internet.defer import Deferred

    from skitter.addon.visit import Visit

LOCAL_SCHEMES = ("data", "file")
PERMIT_TIMEOUT_S = 180.0
SLOW_DOWN = (429, 503)


class Downloader(ScrapyDownloader):
    """The DOWNLOADER of the add-on."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._crawl = Crawl.of(crawler)
        self._gate = RobotsGate(self._crawl, self)
        self._waiting: set[asyncio.Task[Any]] = set()
        self._stopping = asyncio.Event()
        self._heads: dict[ScrapyRequest, float] = {}
        crawler.signals.connect(self._head_arrived, signal=signals.headers_received)

    def fetch(self, request: ScrapyRequest, spider: Any = None) -> Deferred[Any]:  # noqa: ARG002
        """What middlewares do for a leased request belongs to its visit."""
        before = CURRENT.set(self._crawl.visits.get(request) or CURRENT.get())
        try:
            return super().fetch(request)
        finally:
            CURRENT.reset(before)

    def stop_waiting(self) -> None:
        """Whatever waits for its host's pace gives up: the crawler stops."""
        self._stopping.set()
        for task in self._waiting:
            task.cancel()

    async def _enqueue_request(self, request: ScrapyRequest) -> Response:
        """Called at the end of the middlewares; the name is Scrapy's."""
        visit = self._crawl.visits.get(request)
        self._tell(signals.request_reached_downloader, request)
        try:
            if visit:
                return await self._fetch_leased(visit, request)
            if urlparse_cached(request).scheme in LOCAL_SCHEMES:
                return await self.download_here(request)
            return await self.fetch_permitted(request)
        except Exception:
            await _process_pending_io()
            raise
        finally:
            self._tell(signals.request_left_downloader, request)

    async def _fetch_leased(self, visit: Visit, request: ScrapyRequest) -> Response:
        intake, page = self._crawl.process.intake, visit.page
        with self._abandonable():
            await self._gate.pass_(visit, request)
            await intake.paced(page)
        way = Exit(self._crawl.process.proxies, page.lease.egress, page.lease.host)
        if not intake.may_send(page):
            raise NotSent
        response, fetch = await self.ask(request, way, report=lambda f: intake.fetched(page, f))
        if fetch.status == ELSEWHERE:
            raise NotSent
        await intake.room()
        return response

    async def fetch_permitted(self, request: ScrapyRequest) -> Response:
        """Ask for something that is not queued, when its host gives a turn."""
        intake, proxies = self._crawl.process.intake, self._crawl.process.proxies
        host = urlparse_cached(request).hostname or ""
        egress = next(iter(proxies.egresses()), DIRECT)
        try:
            permit = await intake.permit(host, egress=egress, timeout_s=PERMIT_TIMEOUT_S)
        except TimeoutError as error:
            raise DownloadTimeoutError(f"{host} gave no turn for {request.url}") from error
        try:
            way = Exit(proxies, egress, permit.host)
            if not intake.may_send(permit):
                raise NotSent  # noqa: TRY301 - both mean that nothing is sent
        except NotSent as error:
            intake.permit_over(permit, None)
            raise DownloadTimeoutError(f"the turn for {request.url} was lost") from error
        over = partial(intake.permit_over, permit)
        return (await self.ask(request, way, report=over))[0]

    async def ask(
        self, request: ScrapyRequest, way: Exit, *, report: Callable[[Fetch], None]
    ) -> tuple[Response, Fetch]:
        """Ask now, and report when the head of the answer arrived; whoever calls has the turn.

        ELSEWHERE in place of the status: it should be asked through another egress. An error that
        says so is NotSent.
        """
        begun, fetch = time.monotonic(), None
        self._heads[request] = 0.0
        try:
            with way.used_by(request):
                response = await self.download_here(request)
            elsewhere = way.answered(request, response)
            fetch = _fetch(begun, self._heads[request], response, elsewhere=elsewhere)
            return response, fetch
        except Exception as error:
            if way.failed(request, error):
                fetch = _fetch(begun, self._heads[request], None, elsewhere=True)
                raise NotSent from error
            raise
        finally:
            head_at = self._heads.pop(request)
            report(fetch or _fetch(begun, head_at, None))

    def _head_arrived(self, request: ScrapyRequest) -> None:
        """The time that a host's pace is counted from, as near to the wire as Scrapy tells it."""
        if request in self._heads:
            self._heads[request] = time.monotonic()

    async def download_here(self, request: ScrapyRequest) -> Response:
        """Ask now: whoever calls has the turn."""
        response = await self.handlers.download_request_async(request)
        self.signals.send_catch_log(
            signal=signals.response_downloaded,
            response=response,
            request=request,
            spider=self.crawler.spider,
        )
        return response

    def _tell(self, signal: object, request: ScrapyRequest) -> None:
        self.signals.send_catch_log(signal=signal, request=request, spider=self.crawler.spider)

    @contextmanager
    def _abandonable(self) -> Iterator[None]:
        """Waiting that ends when the crawler stops."""
        if self._stopping.is_set():
            raise NotSent
        task: Any = asyncio.current_task()
        self._waiting.add(task)
        try:
            yield
        except asyncio.CancelledError:
            if not self._stopping.is_set():
                raise
            task.uncancel()
            raise NotSent from None
        finally:
            self._waiting.discard(task)


def _fetch(
    begun: float, head_at: float, response: Response | None, *, elsewhere: bool = False
) -> Fetch:
    """What the host's clock is told; without a head, the attempt's end counts."""
    status, wait_ms = response.status if response else 0, 0.0
    if response and status in SLOW_DOWN:
        wait_ms = retry_after_ms(response.headers.get(b"Retry-After") or b"")
    if elsewhere:  # nothing of this is the host's doing
        status, wait_ms = ELSEWHERE, 0.0
    if not head_at:
        return Fetch(status=status, retry_after_ms=wait_ms)
    ago_ms, latency_ms = (time.monotonic() - head_at) * 1000, (head_at - begun) * 1000
    return Fetch(ago_ms, latency_ms, status, wait_ms)
