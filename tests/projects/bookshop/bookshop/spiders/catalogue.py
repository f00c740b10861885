"""A SitemapSpider: from robots.txt to an index of sitemaps to the pages, one way for each kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scrapy.spiders import SitemapSpider

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator


@dataclass
class Entry:
    title: str
    price: Any


class CatalogueSpider(SitemapSpider):
    name = "catalogue"
    site: str
    sitemap_rules = [("/book/", "parse_book"), ("/author/", "parse_author")]  # noqa: RUF012
    sitemap_follow = ["/sitemap-"]  # noqa: RUF012 - both as Scrapy's documentation writes them

    async def start(self) -> AsyncIterator[Any]:
        self.sitemap_urls = [f"{self.site}/robots.txt"]
        async for request in super().start():
            yield request

    def parse_book(self, response: Any) -> Iterator[Any]:
        yield Entry(response.css("h1::text").get(""), response.css("p.price::text").get(""))

    def parse_author(self, response: Any) -> Iterator[Any]:
        yield {"name": response.css("h3.name::text").get()}
