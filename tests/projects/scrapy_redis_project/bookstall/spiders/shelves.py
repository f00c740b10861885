"""A RedisCrawlSpider, whose start URLs have scores, and an ordinary CrawlSpider."""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

PACKAGE = os.environ.get("BOOKSTALL_FROM", "scrapy_redis")
RedisCrawlSpider: Any = import_module(f"{PACKAGE}.spiders").RedisCrawlSpider

RULES = (
    Rule(LinkExtractor(allow=r"/shelf/\d+/\d+/")),
    Rule(LinkExtractor(allow=r"/book/\d+$"), callback="parse_book"),
)


def read_book(response: Any) -> dict[str, Any]:
    return {
        "title": response.css("h1::text").get(),
        "price": response.css("p.price::text").get(),
    }


class ShelvesSpider(RedisCrawlSpider):  # type: ignore[misc]
    name = "shelves"
    redis_key = "%(name)s:wanted"
    redis_batch_size = 2
    max_idle_time = 3
    rules = RULES
    custom_settings = {"REDIS_START_URLS_AS_ZSET": True}  # noqa: RUF012 - as Scrapy has it

    def parse_book(self, response: Any) -> Iterator[Any]:
        yield read_book(response)


class PlainSpider(CrawlSpider):
    """It uses nothing of scrapy-redis but what the settings name."""

    name = "plain"
    site: str
    rules = RULES

    async def start(self) -> AsyncIterator[Any]:
        self.start_urls = [f"{self.site}/shelf/0/1/"]
        async for request in super().start():
            yield request

    def parse_book(self, response: Any) -> Iterator[Any]:
        yield read_book(response)
