"""A spider whose pages are heavy in hand."""

from __future__ import annotations

import asyncio
from typing import Any

import scrapy

WORK_S = 0.05


class Heavy(scrapy.Spider):
    """Takes its time for each page, and notes how many bytes of bodies its process has then."""

    name = "heavy"
    site: str
    most = 0

    async def start(self) -> Any:
        yield scrapy.Request(self.site)

    async def parse(self, response: Any) -> Any:
        engine: Any = self.crawler.engine
        in_hand = engine._crawl.process.intake.stats.body_bytes
        self.most = max(self.most, in_hand)
        await asyncio.sleep(WORK_S)
        yield {"url": response.url, "size": len(response.body)}
        for href in response.css("a::attr(href)").getall():
            yield response.follow(href)

    def closed(self, _reason: str) -> None:
        self.crawler.stats.set_value("most_bytes", self.most)
