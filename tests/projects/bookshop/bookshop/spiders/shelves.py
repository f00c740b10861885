"""A CrawlSpider: rules lead over the shelves to the books, and a book is a scrapy.Item."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import scrapy
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


class Book(scrapy.Item):
    title = scrapy.Field()
    price = scrapy.Field()
    shelf = scrapy.Field()


class ShelvesSpider(CrawlSpider):
    name = "shelves"
    site: str
    rules = (
        Rule(LinkExtractor(allow=r"/shelf/", deny=r"/staff/")),
        Rule(LinkExtractor(allow=r"/book/\d+"), callback="parse_book"),
    )

    async def start(self) -> AsyncIterator[Any]:
        yield scrapy.Request(f"{self.site}/shelf/0/1/")

    def parse_book(self, response: Any) -> Book:
        return Book(
            title=response.css("h1::text").get(),
            price=response.css("p.price::text").get(),
            shelf=response.css("p.shelf::text").get(),
        )
