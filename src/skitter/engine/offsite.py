"""Scrapy's offsite middleware, without the work where a spider names no domains.

Scrapy asks it twice for each request, once as it is scheduled; most spiders allow every domain or a
few, so hosts that were judged are remembered.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.downloadermiddlewares.offsite import OffsiteMiddleware
from scrapy.utils.httpobj import urlparse_cached

if TYPE_CHECKING:
    from scrapy import Request as ScrapyRequest
    from scrapy import Spider
    from scrapy.statscollectors import StatsCollector

MOST = 10_000


class Offsite(OffsiteMiddleware):
    """Stands where Scrapy's own stood."""

    def __init__(self, stats: StatsCollector) -> None:
        super().__init__(stats)
        self._judged: dict[str, bool] = {}

    def process_request(self, request: ScrapyRequest, spider: Any = None) -> None:  # noqa: ARG002
        """Raise IgnoreRequest for what is off the spider's site."""
        if getattr(self.crawler.spider, "allowed_domains", None):
            super().process_request(request)

    def should_follow(self, request: ScrapyRequest, spider: Spider) -> bool:
        """By host, remembered until the spider names other domains."""
        return self.allows(urlparse_cached(request).hostname or "", spider)

    def allows(self, host: str, spider: Spider) -> bool:
        """Whether a host belongs to the spider's domains."""
        before = self._allowed_domains
        self._update_host_regex(spider)
        if before is not self._allowed_domains or len(self._judged) > MOST:
            self._judged.clear()
        if host not in self._judged:
            self._judged[host] = bool(self.host_regex.search(host))
        return self._judged[host]
