"""Scrapy's default downloader middlewares as straight code, for crawlers that add none.

What nearly every page needs is done here; what is rare (redirects, retries, proxies, credentials)
is done by the middleware itself, which is there with its settings. The order is that of Scrapy's
chain: towards the site from offsite to stats, and back.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

from scrapy.downloadermiddlewares.defaultheaders import DefaultHeadersMiddleware
from scrapy.downloadermiddlewares.downloadtimeout import DownloadTimeoutMiddleware
from scrapy.downloadermiddlewares.httpauth import HttpAuthMiddleware
from scrapy.downloadermiddlewares.httpcompression import HttpCompressionMiddleware
from scrapy.downloadermiddlewares.httpproxy import HttpProxyMiddleware
from scrapy.downloadermiddlewares.redirect import MetaRefreshMiddleware, RedirectMiddleware
from scrapy.downloadermiddlewares.stats import DownloaderStats
from scrapy.downloadermiddlewares.useragent import UserAgentMiddleware
from scrapy.http import Headers, Response, TextResponse
from scrapy.http import HtmlResponse as ScrapyHtmlResponse
from scrapy.utils.misc import load_object

from skitter.engine.cookies import Cookies
from skitter.engine.dressing import Dressing
from skitter.engine.offsite import Offsite
from skitter.engine.page_stats import PageStats
from skitter.engine.responses import HtmlResponse, kind_of
from skitter.engine.retrying import Retry
from skitter.engine.verdicts import GivenUp, NotSent, TryLater
from skitter.errors import SkitterError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from scrapy import Request as ScrapyRequest
    from scrapy.crawler import Crawler

CHAIN = (
    Offsite, HttpAuthMiddleware, DownloadTimeoutMiddleware, Dressing, DefaultHeadersMiddleware,
    UserAgentMiddleware, Retry, MetaRefreshMiddleware, HttpCompressionMiddleware,
    RedirectMiddleware, Cookies, HttpProxyMiddleware, DownloaderStats,
)  # fmt: skip
"""The middlewares in their order, robots.txt apart: it is read in the request's own turn."""
_ACCEPTED = b"gzip, deflate, br, zstd"
_UNBOUNDED = 1 << 62


def is_plain(crawler: Crawler, middlewares: tuple[Any, ...]) -> bool:
    """Whether a crawler has Scrapy's default middlewares, in their order, and no others."""
    chain = crawler.settings.get_component_priority_dict_with_base("DOWNLOADER_MIDDLEWARES")
    off = {load_object(kind) for kind, place in chain.items() if place is None}
    kinds = [type(one) for one in middlewares]
    return kinds == [kind for kind in CHAIN if kind in kinds] and not off & set(CHAIN)


class Straight:
    """The default chain around `reach`, which asks in the request's turn."""

    def __init__(
        self,
        crawler: Crawler,
        middlewares: tuple[Any, ...],
        reach: Callable[[ScrapyRequest], Awaitable[Response]],
    ) -> None:
        self._spider: Any = crawler.spider
        self._reach = reach
        there = {type(one): one for one in middlewares}
        self._offsite: Offsite | None = there.get(Offsite)
        self._auth: Any = there.get(HttpAuthMiddleware)
        self._timeout: Any = there.get(DownloadTimeoutMiddleware)
        self._dressing: Dressing | None = there.get(Dressing)
        self._defaults: Any = there.get(DefaultHeadersMiddleware)
        self._agent: Any = there.get(UserAgentMiddleware)
        self._retry: Retry | None = there.get(Retry)
        self._refresh: MetaRefreshMiddleware | None = there.get(MetaRefreshMiddleware)
        self._compression: Any = there.get(HttpCompressionMiddleware)
        self._redirect: RedirectMiddleware | None = there.get(RedirectMiddleware)
        self._cookies: Cookies | None = there.get(Cookies)
        self._proxy: HttpProxyMiddleware | None = there.get(HttpProxyMiddleware)
        self._stats = PageStats(crawler.stats) if DownloaderStats in there else None
        self._all_stats = crawler.stats
        self._template: list[tuple[bytes, list[bytes]]] = []

    def open(self) -> None:
        """The spider is open, and has told the middlewares what it wants."""
        headers = Headers()
        for name, value in self._defaults._headers if self._defaults else ():  # noqa: SLF001
            headers.setdefault(name, value)
        if self._agent and self._agent.user_agent:
            headers.setdefault(b"User-Agent", self._agent.user_agent)
        if self._compression:
            headers.setdefault(b"Accept-Encoding", _ACCEPTED)
        self._template = list(dict.items(headers))

    async def download(self, request: ScrapyRequest) -> Response | ScrapyRequest:
        """A response, or the request that comes in its place; raises what a chain would."""
        try:
            self._prepare(request)
            if self._cookies:
                await self._cookies.process_request(request)
            if self._proxy and (self._proxy.proxies or "proxy" in request.meta):
                self._proxy.process_request(request)
            if self._stats:
                self._stats.asked(request)
            response = await self._reach(request)
        except (NotSent, TryLater, GivenUp, SkitterError):
            raise
        except Exception as error:
            if self._stats:
                self._stats.failed(error)
            if self._retry:
                self._retry.process_exception(request, error)
            raise
        return await self._receive(request, response)

    def _prepare(self, request: ScrapyRequest) -> None:
        meta = request.meta
        if self._offsite:
            self._offsite.process_request(request)
        if self._auth and (self._auth._auth or "http_user" in meta or "http_pass" in meta):  # noqa: SLF001
            self._auth.process_request(request)
        if self._timeout and self._timeout._timeout:  # noqa: SLF001
            meta.setdefault("download_timeout", self._timeout._timeout)  # noqa: SLF001
        if self._dressing:
            self._dressing.process_request(request)
        headers = request.headers
        for name, values in self._template:
            if name not in dict.keys(headers):
                dict.__setitem__(headers, name, list(values))

    async def _receive(
        self, request: ScrapyRequest, response: Response
    ) -> Response | ScrapyRequest:
        if self._stats:
            self._stats.answered(response)
        headers = response.headers
        if self._cookies and dict.get(headers, b"Set-Cookie"):
            await self._cookies.process_response(request, response)
        if self._redirect and 300 <= response.status < 400:
            moved = self._redirect.process_response(request, response)
            if moved is not response:
                return moved
        if self._compression and dict.get(headers, b"Content-Encoding"):
            response = self._decompress(request, response)
        if self._refresh and _may_refresh(response):
            moved = self._refresh.process_response(request, response)
            if moved is not response:
                return moved
        if self._retry and response.status in self._retry.retry_http_codes:
            self._retry.process_response(request, response)
        return response

    def _decompress(self, request: ScrapyRequest, response: Response) -> Response:
        """Gzip, in which nearly all comes, in one call; odd or large ones go Scrapy's way."""
        middleware = self._compression
        body = _gunzipped(request, response, middleware._max_size)  # noqa: SLF001
        warned_at = request.meta.get("download_warnsize", middleware._warn_size)  # noqa: SLF001
        if body is None or (warned_at and len(body) >= warned_at):
            unpacked: Response = middleware.process_response(request, response)
            return unpacked
        headers = response.headers
        del headers["Content-Encoding"]
        self._all_stats.inc_value("httpcompression/response_bytes", len(body))
        self._all_stats.inc_value("httpcompression/response_count")
        kind = kind_of(headers, response.url, body)
        # Which encoding it is in, the packed body does not tell.
        more: dict[str, Any] = {"encoding": None} if issubclass(kind, TextResponse) else {}
        made = response.replace(cls=kind, body=body, headers=None, **more)
        made.headers = headers
        return made


def _gunzipped(request: ScrapyRequest, response: Response, max_bytes: int) -> bytes | None:
    """The body, if it is one sound gzip stream within bounds; None leaves it to Scrapy."""
    encodings: list[bytes] = dict.get(response.headers, b"Content-Encoding") or []
    if len(encodings) != 1 or encodings[0].lower() not in {b"gzip", b"x-gzip"}:
        return None
    most = request.meta.get("download_maxsize", max_bytes) or _UNBOUNDED
    stream = zlib.decompressobj(wbits=31)
    try:
        body = stream.decompress(response.body, most)
    except zlib.error:
        return None
    sound = stream.eof and not stream.unused_data and request.method != "HEAD"
    return body if sound else None


def _may_refresh(response: Response) -> bool:
    """Whether a page has to be looked through for a meta refresh."""
    if isinstance(response, HtmlResponse):
        return response.may_refresh
    return isinstance(response, ScrapyHtmlResponse)
