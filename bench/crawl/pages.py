"""The spider that all crawlers run: a title and three fields from each page, and all its links."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import scrapy

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from scrapy.http import Response


class PagesSpider(scrapy.Spider):
    """`scrapy crawl pages -a url=http://127.0.0.1:8080/`"""

    name = "pages"
    url: str

    async def start(self) -> AsyncIterator[Any]:
        yield scrapy.Request(self.url)

    def parse(self, response: Response) -> Iterator[Any]:
        yield {
            "url": response.url,
            "title": response.css("title::text").get(),
            "heading": response.css("h1::text").get(),
            "charset": response.css("meta::attr(charset)").get(),
            "text": response.css("p::text").get("")[:200],
        }
        for href in response.css("a::attr(href)").getall():
            yield response.follow(href, self.parse)
