"""The spiders that Scrapy and Skitter run: a few fields from each page, and all its links."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import scrapy

from bench.crawl.page_fields import LINKS, fields

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
        yield fields(response.url, response)
        for href in response.css(LINKS).getall():
            yield response.follow(href, self.parse)


class PagesAllSpider(PagesSpider):
    """The same, with all links of a page in one call."""

    name = "pages_all"

    def parse(self, response: Response) -> Iterator[Any]:
        yield fields(response.url, response)
        yield from response.follow_all(response.css(LINKS).getall(), self.parse)
