"""A spider that gives one item for each page and follows every link."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import scrapy

from tests.chaos.orders import SPIDER

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator


class LinkSpider(scrapy.Spider):
    name = SPIDER
    seed: str

    async def start(self) -> AsyncIterator[Any]:
        yield scrapy.Request(self.seed)

    def parse(self, response: Any) -> Iterator[Any]:
        yield {"url": response.url, "title": response.css("title::text").get()}
        yield from response.follow_all(css="a", callback=self.parse)
