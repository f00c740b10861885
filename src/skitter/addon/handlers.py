"""Scrapy's download handlers, made to ask a host once for each turn.

A connection that was kept open may turn out to be closed when it is used again. Twisted and aiohttp
then send the request once more by themselves, at once, and nobody's clock knows: that is off. The
failure counts, and the request is tried again after its back-off. Names are resolved by the rules
of `fetch.resolve` first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.core.downloader.handlers._aiohttp import AiohttpDownloadHandler
from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler

from skitter.addon.names import install_rules
from skitter.engine.crawl import Crawl
from skitter.resolve import Resolver, parse_rules

if TYPE_CHECKING:
    from scrapy.crawler import Crawler


class TwistedHandler(HTTP11DownloadHandler):
    """The default: Scrapy's own, on Twisted."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._pool.retryAutomatically = False
        install_rules(Crawl.of(crawler).settings.fetch.resolve)


class AsyncioHandler(AiohttpDownloadHandler):
    """For crawlers that run without a Twisted reactor. The frontier says how many may run."""

    experimental = False

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        rules = parse_rules(Crawl.of(crawler).settings.fetch.resolve)
        session: Any = self._session
        # There is no public way to say any of these once the session is made.
        session.connector._resolver = Resolver(rules)  # noqa: SLF001
        session.connector._limit = session.connector._limit_per_host = 0  # noqa: SLF001
        session._retry_connection = False  # noqa: SLF001
