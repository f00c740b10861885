"""User agents and the headers that belong to them, in turn, where the settings name several."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from scrapy.exceptions import NotConfigured
from scrapy.http import Headers

from skitter.engine.crawl import Crawl
from skitter.policies.identity import Identities

if TYPE_CHECKING:
    from scrapy import Request as ScrapyRequest
    from scrapy.crawler import Crawler


class Dressing:
    """Before Scrapy's middlewares of default headers and of the user agent; only with a file."""

    def __init__(self, crawl: Crawl, identities: Identities) -> None:
        self._crawl = crawl
        self._identities = identities

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """As Scrapy makes it."""
        crawl = Crawl.of(crawler)
        if crawl.settings.identity.file is None:
            raise NotConfigured
        return cls(crawl, Identities.of(crawl.settings))

    def process_request(self, request: ScrapyRequest) -> None:
        """What a request has of its own stays."""
        visit = self._crawl.visits.get(request)
        if visit is None:
            return
        lease, attempts = visit.page.lease, visit.page.request.attempts
        identity = self._identities.pick(
            host=lease.host, url=request.url, attempts=attempts, egress=lease.egress
        )
        own = {name.decode("latin-1"): values for name, values in request.headers.items()}
        request.headers = Headers(identity.dress(own), encoding=request.encoding)
