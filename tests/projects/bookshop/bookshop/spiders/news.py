"""An RSS feed: each entry, and the page that it leads to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import scrapy
from scrapy.spiders import XMLFeedSpider

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator


class NewsSpider(XMLFeedSpider):
    name = "news"
    site: str
    iterator = "iternodes"
    itertag = "item"
    namespaces = (("dc", "http://purl.org/dc/elements/1.1/"),)

    async def start(self) -> AsyncIterator[Any]:
        yield scrapy.Request(f"{self.site}/feed.xml")

    def parse_node(self, response: Any, selector: Any) -> Any:
        entry = {
            "title": selector.xpath("title/text()").get(),
            "author": selector.xpath("dc:creator/text()").get(),
            "date": selector.xpath("pubDate/text()").get(),
        }
        link = selector.xpath("link/text()").get()
        return response.follow(link, callback=self.parse_news, meta={"entry": entry})

    def parse_news(self, response: Any) -> Iterator[Any]:
        text = " ".join(response.css("div.body p::text").getall())
        yield response.meta.get("entry", {"title": "related"}) | {"text": text}
        yield from response.follow_all(css="a.related", callback=self.parse_news)
