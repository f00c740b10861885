"""The downloader's side of the engine: middlewares around what asks in a host's turn.

Without middlewares of a project's own it is straight code; with some, it is Scrapy's own chain, in
the configured order. Downloads outside of the queue always go through the chain.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.core.downloader.middleware import DownloaderMiddlewareManager
from scrapy.utils.httpobj import urlparse_cached
from scrapy.utils.ssl import _make_ssl_context

from skitter.engine.aiohttp_fetcher import AiohttpFetcher
from skitter.engine.asking import Asking
from skitter.engine.offsite import Offsite
from skitter.engine.sending import Sending
from skitter.engine.straight import Straight, is_plain
from skitter.sinks.extras import extra

if TYPE_CHECKING:
    import ssl
    from collections.abc import Awaitable, Callable

    from scrapy import Request as ScrapyRequest
    from scrapy.core.downloader.handlers import DownloadHandlers
    from scrapy.http import Response
    from scrapy.settings import BaseSettings

    from skitter.engine.crawl import Crawl
    from skitter.engine.fetcher import Fetcher
    from skitter.engine.listeners import Hearing

    Download = Callable[[ScrapyRequest], Awaitable[Response | ScrapyRequest]]

WEB = ("http", "https")
MOST_ADDRESSES = 256
LEGACY_SERVER_CONNECT = 0x4  # OpenSSL's; Python has a name for it from 3.12 on


def tls_of(settings: BaseSettings) -> ssl.SSLContext:
    """By the settings; as with Scrapy's own client, old servers may be without RFC 5746."""
    context = _make_ssl_context(settings)
    context.options |= LEGACY_SERVER_CONNECT
    return context


class _Fetchers:
    """One for each address that requests leave from; most crawlers have one, which is any."""

    def __init__(self, make: Callable[..., Fetcher]) -> None:
        self._make = make
        self._made: dict[Any, Fetcher] = {}

    def of(self, told: str | tuple[str, int] | None) -> Fetcher:
        """As DOWNLOAD_BIND_ADDRESS and `meta["bindaddress"]` tell it; a host takes any port."""
        address = (told, 0) if isinstance(told, str) else told and tuple(told)
        if address not in self._made:
            if len(self._made) >= MOST_ADDRESSES:
                raise ValueError(f"requests leave from {MOST_ADDRESSES} addresses already")
            self._made[address] = self._make(local_address=address)
        return self._made[address]

    async def close(self) -> None:
        """Close all connections."""
        for fetcher in self._made.values():
            await fetcher.close()


def _fetcher_of(client: str) -> Callable[..., Fetcher]:
    """The kind of fetcher that a setting names."""
    if client == "aiohttp":
        return AiohttpFetcher
    with extra("curl", what="fetch.client = curl"):
        from skitter.engine.curl_fetcher import CurlFetcher  # noqa: PLC0415 - an extra

        return CurlFetcher


class Downloading:
    """What Scrapy's components know as `engine.downloader`."""

    download: Download

    def __init__(self, crawl: Crawl, hears: Hearing) -> None:
        crawler = crawl.crawler
        self._crawl = crawl
        self._hears = hears
        self.middleware = DownloaderMiddlewareManager.from_crawler(crawler)
        self.slots: dict[str, Any] = {}
        self._fetchers: _Fetchers | None = None
        self._handlers: DownloadHandlers | None = None
        self._asking = Asking(crawl, self._send)
        self._sending: Sending

    @property
    def active(self) -> Any:
        """The requests in hand."""
        return self._crawl.visits.keys()

    @property
    def offsite(self) -> Offsite | None:
        """The middleware that keeps to the spider's domains, unless it is off."""
        return self._crawl.crawler.get_downloader_middleware(Offsite)

    @property
    def total_concurrency(self) -> int:
        """How many requests may be under way."""
        return self._crawl.tuning.in_flight or self._crawl.settings.worker.concurrency

    def needs_backout(self) -> bool:
        """Whether that many are."""
        return len(self.active) >= self.total_concurrency

    def open(self) -> None:
        """Be ready to fetch: whatever opens with the spider may need something."""
        crawler = self._crawl.crawler
        fetch = self._crawl.settings.fetch
        kind, tls = _fetcher_of(fetch.client), partial(tls_of, crawler.settings)
        self._fetchers = _Fetchers(partial(kind, resolve=fetch.resolve, tls=tls))
        self._sending = Sending(crawler, self._fetchers.of, self._hears)
        self.download = self.chain

    def straighten(self) -> None:
        """The spider is open, and has told the middlewares what it wants."""
        crawler, chain = self._crawl.crawler, self.middleware.middlewares
        if is_plain(crawler, chain):
            straight = Straight(crawler, chain, self._reach)
            straight.open()
            self.download = straight.download

    def stop_waiting(self) -> None:
        """Whatever waits for its host's pace gives up."""
        self._asking.stop_waiting()

    async def close_async(self) -> None:
        """Close all connections."""
        if self._fetchers:
            await self._fetchers.close()

    async def chain(self, request: ScrapyRequest) -> Response | ScrapyRequest:
        """Through all middlewares, in their order."""
        return await self.middleware.download_async(self._reach, request)

    async def _reach(self, request: ScrapyRequest) -> Response:
        """Behind all middlewares: ask in the host's turn."""
        told = self._hears(signals.request_reached_downloader)
        if told:
            self._tell(signals.request_reached_downloader, request)
        try:
            visit = self._crawl.visits.get(request)
            if visit:
                return await self._asking.leased(visit, request)
            if urlparse_cached(request).scheme in WEB:
                return await self._asking.permitted(request)
            return await self._others().download_request_async(request)
        finally:
            if self._hears(signals.request_left_downloader):
                self._tell(signals.request_left_downloader, request)

    async def _send(self, request: ScrapyRequest, head: Any) -> Response:
        return await self._sending.send(request, head)

    def _others(self) -> DownloadHandlers:
        """Scrapy's handlers of other schemes, made when first needed."""
        if self._handlers is None:
            from scrapy.core.downloader.handlers import DownloadHandlers  # noqa: PLC0415 - as said

            self._handlers = DownloadHandlers(self._crawl.crawler)
        return self._handlers

    def _tell(self, signal: object, request: ScrapyRequest) -> None:
        crawler = self._crawl.crawler
        crawler.signals.send_catch_log(signal=signal, request=request, spider=crawler.spider)
