"""The requests that a callback gives, through Scrapy's default spider middlewares to their page.

A plain link (no headers, body, cookies or meta of its own) is nearly every one. It is looked up
among the known ones, checked, and written down for the frontier at once. All others go through the
middlewares themselves and the crawler's ordinary intake.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.http import Request as ScrapyRequest
from scrapy.spidermiddlewares.depth import DepthMiddleware
from scrapy.spidermiddlewares.httperror import HttpErrorMiddleware
from scrapy.spidermiddlewares.metacopy import MetaCopyDetectionMiddleware
from scrapy.spidermiddlewares.referer import (
    DefaultReferrerPolicy,
    NoReferrerWhenDowngradePolicy,
    RefererMiddleware,
)
from scrapy.spidermiddlewares.start import StartSpiderMiddleware
from scrapy.spidermiddlewares.urllength import UrlLengthMiddleware
from scrapy.utils.misc import load_object

from skitter.engine.requests import is_canonical
from skitter.errors import UnstorableRequest
from skitter.frontier import Request

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from skitter.engine.crawl import Crawl
    from skitter.engine.listeners import Hearing
    from skitter.engine.offsite import Offsite
    from skitter.engine.responses import Following
    from skitter.engine.visit import Visit

CHAIN = (
    StartSpiderMiddleware, HttpErrorMiddleware, RefererMiddleware, UrlLengthMiddleware,
    DepthMiddleware, MetaCopyDetectionMiddleware,
)  # fmt: skip
_UNENDING = 1 << 31
_SIMPLE_POLICIES = (DefaultReferrerPolicy, NoReferrerWhenDowngradePolicy)


def is_plain(crawler: Crawler, middlewares: tuple[Any, ...]) -> bool:
    """Whether a crawler has Scrapy's default spider middlewares, in their order, and no others.

    Without the one for depths, links have none, and are not written down as they are here.
    """
    chain = crawler.settings.get_component_priority_dict_with_base("SPIDER_MIDDLEWARES")
    off = {load_object(kind) for kind, place in chain.items() if place is None}
    kinds = [type(one) for one in middlewares]
    usual = kinds == [kind for kind in CHAIN if kind in kinds] and DepthMiddleware in kinds
    return usual and not off & set(CHAIN)


def _innermost(outputs: Any) -> Any:
    """Of a generator that gives what another one gives, and so on: the last of them."""
    while (inner := getattr(outputs, "gi_yieldfrom", None)) is not None:
        outputs = inner
    return outputs


class Links:
    """One crawler's links. `crawl` takes in what is not plain, as an engine does."""

    def __init__(
        self,
        crawl: Crawl,
        middlewares: tuple[Any, ...],
        *,
        hears: Hearing,
        crawl_request: Callable[[ScrapyRequest], None],
        offsite: Offsite | None,
    ) -> None:
        there = {type(one): one for one in middlewares}
        self._hears = hears
        self._depth: Any = there.get(DepthMiddleware)
        # In the order in which output passes them.
        self._chain = [there[kind] for kind in reversed(CHAIN[2:]) if kind in there]
        self._verbose = bool(self._depth and self._depth.verbose_stats)
        self.crawl = crawl
        self.crawl_request = crawl_request
        self._offsite = offsite
        self.stats = crawl.crawler.stats
        self._spider: Any = crawl.crawler.spider
        self.max_depth = (self._depth.maxdepth if self._depth else 0) or _UNENDING
        self.depth_priority = self._depth.prio if self._depth else 0
        length: Any = there.get(UrlLengthMiddleware)
        self.max_chars = length.maxlength if length else _UNENDING
        self._referer: Any = there.get(RefererMiddleware)

    def of(self, visit: Visit, response: Response) -> PageLinks:
        """The links of one page."""
        quiet = not (
            self._verbose
            or self._hears(signals.request_scheduled)
            or self._hears(signals.request_dropped)
        )
        if self._depth:
            self._depth._init_depth(response)  # noqa: SLF001
        self.crawl.harvest()
        return PageLinks(self, visit, response, quiet=quiet)

    def processed(self, request: ScrapyRequest, response: Response) -> ScrapyRequest | None:
        """A request as the middlewares leave it."""
        passed: ScrapyRequest | None = request
        for middleware in self._chain:
            if passed is not None:
                passed = middleware.get_processed_request(passed, response)
        return passed

    def is_offsite(self, url: str) -> bool:
        """Whether a canonical URL lies outside the spider's domains."""
        if self._offsite is None or not getattr(self._spider, "allowed_domains", None):
            return False
        host = url[url.index("//") + 2 : url.index("/", 8)].partition(":")[0]
        return not self._offsite.allows(host, self._spider)

    def refers_simply(self, response: Response) -> bool:
        """Whether the Referer of a link depends on no more than its scheme."""
        if self._referer is None:
            return True
        if self._referer.default_policy not in _SIMPLE_POLICIES:
            return False
        return not dict.get(response.headers, b"Referrer-Policy")

    def referers(self, response: Response) -> tuple[dict[str, Any], dict[str, Any]]:
        """The headers of links to http and to https, where it is that simple."""
        if self._referer is None:
            return {}, {}
        url = response.url
        if not is_canonical(url):  # it may have to be stripped of something
            url = self._referer.default_policy().referrer(url, "https://any/") or ""
        header = {"Referer": url.encode()} if url else {}
        return {} if response.url.startswith("https:") else header, header


class PageLinks:
    """The links of one page."""

    __slots__ = (
        "_depth",
        "_headers",
        "_job",
        "_known",
        "_links",
        "_met",
        "_plain",
        "_response",
        "_visit",
    )

    def __init__(self, links: Links, visit: Visit, response: Response, *, quiet: bool) -> None:
        self._links = links
        self._visit = visit
        self._response = response
        self._job = visit.job
        self._known = links.crawl.known
        self._depth = response.meta.get("depth", 0) + 1
        self._headers: tuple[dict[str, Any], dict[str, Any]] | None = None
        self._plain = quiet and links.refers_simply(response) and self._depth <= links.max_depth
        self._met: set[str] = set()

    def take(self, request: ScrapyRequest) -> None:
        """Take in a request that the callback gave."""
        if not self._plain:
            self._take_slowly(request)
        elif request._url in self._met and self._is_link(request):  # noqa: SLF001
            return
        elif self._known.has(self._job, request):
            self._known.met += 1
        elif not self._is_link(request) or not self._take_quickly(request):
            self._take_slowly(request)

    def pass_over(self, following: Following, outputs: Any) -> None:
        """Leave out what is known of a `follow_all` whose requests come here as they are made.

        Nobody sees them on their way, so that there need be none.
        """
        if self._plain and following.giving is _innermost(outputs):
            self._known.met += following.pass_over(self._known, self._job)

    def end(self) -> None:
        """All are taken."""
        if self._met:
            self._links.stats.max_value("request_depth_max", self._depth)

    @staticmethod
    def _is_link(request: Any) -> bool:
        return (
            type(request) is ScrapyRequest
            and request.method == "GET"
            and not (
                request._headers  # noqa: SLF001 - the properties make empty containers
                or request._body  # noqa: SLF001
                or request._cookies  # noqa: SLF001
                or request._meta  # noqa: SLF001
                or request._cb_kwargs  # noqa: SLF001
                or request._flags  # noqa: SLF001
                or request.dont_filter
            )
        )

    def _take_quickly(self, request: Any) -> bool:
        """Write a plain link down; False if there is something about it."""
        links, url = self._links, request._url  # noqa: SLF001
        if not is_canonical(url) or len(url) > links.max_chars:
            return False
        if links.is_offsite(url) or links.crawl.process.traps.refuses(url, self._depth):
            return False
        try:
            child = self._child(request, url)
        except UnstorableRequest:  # the long way says so
            return False
        self._visit.page.children.append(child)
        self._met.add(url)
        return True

    def _child(self, request: ScrapyRequest, url: str) -> Request:
        codec, depth = self._links.crawl.codec, self._depth
        if self._headers is None:
            self._headers = self._links.referers(self._response)
        child = Request(
            self._job,
            url,
            "GET",
            self._headers[url[4] == "s"],
            b"",
            codec.name_of(request, "callback"),
            codec.name_of(request, "errback"),
            depth,
            request.priority - depth * self._links.depth_priority,
        )
        if self._visit.mark or request._encoding != "utf-8":  # noqa: SLF001
            codec.mark(child, self._visit.mark, request._encoding)  # noqa: SLF001
        return child

    def _take_slowly(self, request: ScrapyRequest) -> None:
        passed = self._links.processed(request, self._response)
        if passed is not None:
            self._links.crawl_request(passed)
