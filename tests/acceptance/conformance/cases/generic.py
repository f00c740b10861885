"""Scrapy's generic spiders."""

# ruff: noqa: RUF012 - as spiders are written

from __future__ import annotations

from typing import Any

from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, CSVFeedSpider, Rule, SitemapSpider, XMLFeedSpider

from tests.acceptance.conformance.cases.case import Case, leads_to, seen


class Rules(Case, CrawlSpider):
    """CrawlSpider: rules in their order, `process_links`, `process_request`, `cb_kwargs`."""

    name = "crawl_spider"
    paths = (
        leads_to(
            "/echo/book/1",
            "/echo/book/2",
            "/links?to=%2Fecho%2Fbook%2F3",
            "/echo/deny",
            "/echo/x?sort=1",
        ),
    )
    gives = 5
    rules = (
        Rule(LinkExtractor(allow=r"/links"), follow=True),
        Rule(
            LinkExtractor(allow=r"/book/\d", deny=r"/deny"),
            callback="parse_book",
            cb_kwargs={"shelf": "a"},
            process_links="shorten",
            process_request="mark",
        ),
        Rule(LinkExtractor(allow=r"sort="), callback="parse_sorted", errback="failed"),
    )

    def shorten(self, links: list[Any]) -> list[Any]:
        for link in links:
            link.text = link.text[-3:]
        return links

    def mark(self, request: Any, response: Any) -> Any:
        return request.replace(priority=3, meta=request.meta | {"from": response.url})

    def parse_start_url(self, response: Any, **_kwargs: Any) -> Any:
        return {"start": response.url}

    def parse_book(self, response: Any, shelf: str) -> Any:
        told = ("from", "link_text", "rule")
        return seen(response, shelf=shelf, **{name: response.meta[name] for name in told})

    def parse_sorted(self, response: Any) -> Any:
        yield {"sorted": response.url}

    def process_results(self, _response: Any, results: Any) -> Any:
        return results


class RulesDepth(Case, CrawlSpider):
    """CrawlSpider with DEPTH_LIMIT and `follow` off."""

    name = "crawl_spider_depth"
    custom_settings = {"DEPTH_LIMIT": 3}
    paths = ("/tree/",)
    rules = (
        Rule(LinkExtractor(allow=r"/a$"), callback="parse_page", follow=True),
        Rule(LinkExtractor(allow=r"/b$"), callback="parse_page"),
    )
    gives = 6

    def parse_page(self, response: Any) -> Any:
        yield {"url": response.url, "depth": response.meta["depth"]}


class Sitemap(Case, SitemapSpider):
    """SitemapSpider: an index, a packed sitemap, rules, alternates."""

    name = "sitemap_spider"
    gives = 4
    sitemap_rules = [("/book/", "parse_book"), ("/author/", "parse_author")]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.sitemap_urls = [self.url("/sitemap.xml")]

    async def start(self) -> Any:
        async for request in SitemapSpider.start(self):
            yield request

    def parse_book(self, response: Any) -> Any:
        yield seen(response)

    def parse_author(self, response: Any) -> Any:
        yield {"author": response.url}


class SitemapFilter(Sitemap):
    """`sitemap_follow` and `sitemap_filter`."""

    name = "sitemap_spider_filter"
    sitemap_follow = ["-a"]
    gives = 1

    def sitemap_filter(self, entries: Any) -> Any:
        for entry in entries:
            if not entry["loc"].endswith("/1"):
                yield entry


class XmlFeed(Case, XMLFeedSpider):
    """XMLFeedSpider, with a charset of the feed's own."""

    name = "xml_feed_spider"
    paths = ("/body/feed.xml",)
    itertag = "entry"
    gives = 5

    def parse_node(self, response: Any, selector: Any) -> Any:
        number = selector.xpath("@id").get()
        yield {"id": number, "title": selector.xpath("title/text()").get()}
        if number == "0":
            yield response.follow("/echo/entry", callback=self.parse_entry)

    def parse_entry(self, response: Any) -> Any:
        yield seen(response)


class XmlFeedNodes(XmlFeed):
    """XMLFeedSpider by the whole document; `adapt_response` and `process_results`."""

    name = "xml_feed_spider_nodes"
    iterator = "xml"
    gives = 4

    def adapt_response(self, response: Any) -> Any:
        return response.replace(body=response.body.replace(b"Entry", b"Note"))

    def process_results(self, _response: Any, results: Any) -> Any:
        return [result | {"processed": True} for result in results if isinstance(result, dict)]


class CsvFeed(Case, CSVFeedSpider):
    """CSVFeedSpider."""

    name = "csv_feed_spider"
    paths = ("/body/table.csv",)
    delimiter = ";"
    gives = 3

    def parse_row(self, _response: Any, row: dict[str, str]) -> Any:
        yield dict(row)
