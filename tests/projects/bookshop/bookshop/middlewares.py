"""The stockroom's people: one at the door, one who decides what is fetched, and a bell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from scrapy import signals

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response


class Doorkeeper:
    """A downloader middleware: tries without the key first, then shows it."""

    def __init__(self, key: str) -> None:
        self._key = key

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler.settings["STOCKROOM_KEY"])

    def process_request(self, request: Request) -> None:
        if request.meta.get("tries"):
            request.headers["X-Key"] = self._key

    def process_response(self, request: Request, response: Response) -> Request | Response:
        if response.status == 403 and not request.meta.get("tries"):
            return request.replace(meta=request.meta | {"tries": 1}, dont_filter=True)
        return response


class Foreman:
    """A spider middleware: one crate is not for us, and every item is stamped."""

    async def process_spider_output(self, response: Response, result: Any) -> AsyncIterator[Any]:
        async for output in result:
            if not isinstance(output, dict):
                if not output.url.endswith("/stock/3"):
                    yield output
            else:
                yield output | {"stamp": response.url.rpartition("/")[2]}


class Bell:
    """An extension: counts what goes out of the door."""

    def __init__(self, crawler: Crawler) -> None:
        self._stats: Any = crawler.stats
        crawler.signals.connect(self.ring, signals.item_scraped)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def ring(self) -> None:
        self._stats.inc_value("bell/rung")
