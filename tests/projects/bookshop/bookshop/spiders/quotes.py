"""The first spider that anyone writes: quotes page by page, and each author once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import scrapy

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator


class QuotesSpider(scrapy.Spider):
    name = "quotes"
    site: str

    async def start(self) -> AsyncIterator[Any]:
        yield scrapy.Request(f"{self.site}/page/1/")

    def parse(self, response: Any) -> Iterator[Any]:
        for quote in response.css("div.quote"):
            yield {
                "text": quote.css("span.text::text").get(),
                "author": quote.css("small.author::text").get(),
                "tags": quote.css("a.tag::text").getall(),
            }
        yield from response.follow_all(css="small.author + a", callback=self.parse_author)
        yield from response.follow_all(css="li.next a")

    def parse_author(self, response: Any) -> Iterator[Any]:
        yield {
            "name": response.css("h3.name::text").get(),
            "born": response.css("span.born::text").get(),
        }
