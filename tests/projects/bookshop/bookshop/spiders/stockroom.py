"""A spider with its own middlewares and pipelines: a key for the door, a scale, a ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import scrapy

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator


class StockroomSpider(scrapy.Spider):
    name = "stockroom"
    site: str
    custom_settings = {  # noqa: RUF012 - as Scrapy's documentation writes it
        "STOCKROOM_KEY": "open sesame",
        "DOWNLOADER_MIDDLEWARES": {"bookshop.middlewares.Doorkeeper": 543},
        "SPIDER_MIDDLEWARES": {"bookshop.middlewares.Foreman": 543},
        "ITEM_PIPELINES": {"bookshop.pipelines.Scale": 200, "bookshop.pipelines.Ledger": 800},
        "EXTENSIONS": {"bookshop.middlewares.Bell": 500},
    }

    async def start(self) -> AsyncIterator[Any]:
        yield scrapy.Request(f"{self.site}/stock/0")

    def parse(self, response: Any) -> Iterator[Any]:
        yield {
            "crate": response.css("h2::text").get(),
            "weight": response.css("b::text").get(),
            "tries": response.meta.get("tries", 0),
        }
        yield from response.follow_all(css="a")
