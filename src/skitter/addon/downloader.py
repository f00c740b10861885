"""Scrapy's downloader with the frontier's pace in place of its slots.

The chain of downloader middlewares and the download handlers are Scrapy's own; between them stands
`engine.asking`, which waits for the host's turn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.core.downloader import Downloader as ScrapyDownloader
from scrapy.exceptions import StopDownload
from scrapy.utils.defer import _process_pending_io
from scrapy.utils.httpobj import urlparse_cached

from skitter.engine.asking import Asking, Head
from skitter.engine.crawl import Crawl
from skitter.engine.sending import FIRST_BYTES
from skitter.engine.visit import CURRENT

if TYPE_CHECKING:
    from scrapy import Request as ScrapyRequest
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.internet.defer import Deferred

LOCAL_SCHEMES = ("data", "file")


class Downloader(ScrapyDownloader):
    """The DOWNLOADER of the add-on."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._crawl = Crawl.of(crawler)
        self._asking = Asking(self._crawl, self._send)
        self._heads: dict[ScrapyRequest, Head] = {}
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
        self._asking.stop_waiting()

    async def _enqueue_request(self, request: ScrapyRequest) -> Response:
        """Called at the end of the middlewares; the name is Scrapy's."""
        visit = self._crawl.visits.get(request)
        self._tell(signals.request_reached_downloader, request)
        try:
            if visit:
                return await self._asking.leased(visit, request)
            if urlparse_cached(request).scheme in LOCAL_SCHEMES:
                return await self._download_here(request)
            return await self._asking.permitted(request)
        except Exception:
            await _process_pending_io()
            raise
        finally:
            self._tell(signals.request_left_downloader, request)

    async def _send(self, request: ScrapyRequest, head: Head) -> Response:
        self._heads[request] = head
        part = _FirstPart(request, request.meta.get(FIRST_BYTES, 0))
        if part.most:
            self.signals.connect(part.received, signal=signals.bytes_received)
        try:
            return await self._download_here(request)
        finally:
            del self._heads[request]
            if part.most:
                self.signals.disconnect(part.received, signal=signals.bytes_received)

    def _head_arrived(self, request: ScrapyRequest) -> None:
        """Scrapy's handlers tell it by a signal; the status comes later."""
        if request in self._heads:
            self._heads[request].arrived()

    async def _download_here(self, request: ScrapyRequest) -> Response:
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


class _FirstPart:
    """Reads no more of one body than is wanted."""

    def __init__(self, request: ScrapyRequest, most: int) -> None:
        self.most = most
        self._request = request
        self._had = 0

    def received(self, data: bytes, request: ScrapyRequest) -> None:
        """As the signal calls it, for every request's bytes."""
        if request is self._request:
            self._had += len(data)
            if self._had >= self.most:
                raise StopDownload(fail=False)
