"""Spiders for the tests, one for each thing that may become of a request."""

from __future__ import annotations

import asyncio
import json
import resource
from typing import Any
from urllib.parse import urljoin

import scrapy
from scrapy.downloadermiddlewares.retry import get_retry_request
from scrapy.exceptions import CloseSpider, DontCloseSpider, DropItem, IgnoreRequest
from scrapy.http import FormRequest
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule, SitemapSpider

HERE = "tests.integration.addon.spiders"
PICKY = {"ITEM_PIPELINES": {f"{HERE}.Picky": 300}}
IGNORING = {"DOWNLOADER_MIDDLEWARES": {f"{HERE}.Ignorer": 10}}
FETCHING = {"ITEM_PIPELINES": {"scrapy.pipelines.files.FilesPipeline": 1}}


class Site(scrapy.Spider):
    """Begins at one path of a site."""

    path = "/"

    def __init__(self, site: str = "", path: str = "", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.site = site
        self.path = path or self.path

    def url(self, path: str) -> str:
        return urljoin(self.site, path)

    async def start(self) -> Any:
        yield scrapy.Request(self.url(self.path))

    def parse(self, response: Any) -> Any:
        yield {"url": response.url, "status": response.status}


class One(Site):
    name = "one"


class Gated(One):
    name = "gated"
    custom_settings = {"SKITTER_GATES": {"least_items": 7}}  # noqa: RUF012 - as spiders write it


class Everywhere(scrapy.Spider):
    """Begins at many URLs, follows all links, and tells how much memory that took.

    robots.txt is asked for at hosts with this in their names; it is in every name, unless told. A
    URL that ends in #again is asked for as often as it is met.
    """

    name = "everywhere"

    def __init__(self, urls: str = "[]", robots: str = "", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.urls = json.loads(urls)
        self.robots = robots

    async def start(self) -> Any:
        for url in self.urls:
            meta = {"dont_obey_robotstxt": self.robots not in url}
            yield scrapy.Request(url, meta=meta, dont_filter=url.endswith("#again"))

    def parse(self, response: Any) -> Any:
        yield {"url": response.url, "title": response.css("title::text").get()}
        for href in response.css("a::attr(href)").getall():
            yield response.follow(href)

    def closed(self, _reason: str) -> None:
        used_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        self.crawler.stats.set_value("rss_mb", used_kb / 1024)


class Links(Site):
    name = "links"

    def parse(self, response: Any) -> Any:
        yield {"url": response.url, "depth": response.meta.get("depth", 0)}
        for href in response.css("a::attr(href)").getall():
            yield response.follow(href)


class Rules(CrawlSpider):
    name = "rules"
    rules = (Rule(LinkExtractor(), callback="parse_page", follow=True),)

    def __init__(self, site: str = "", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.start_urls = [site]

    def parse_page(self, response: Any) -> Any:
        yield {"url": response.url, "text": response.meta["link_text"]}


class Maps(SitemapSpider):
    name = "maps"

    def __init__(self, site: str = "", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.sitemap_urls = [urljoin(site, "/sitemap.xml")]

    def parse(self, response: Any) -> Any:
        yield {"url": response.url}


class Raises(Site):
    name = "raises"

    def parse(self, response: Any) -> Any:
        yield {"url": response.url}
        yield response.follow("/p/1", callback=self.parse_good)
        raise ValueError("the callback failed")

    def parse_good(self, response: Any) -> Any:
        yield {"url": response.url}


class RaisesOnce(Raises):
    """The second time it does not."""

    name = "raises_once"
    runs = 0

    def parse(self, response: Any) -> Any:
        type(self).runs += 1
        yield response.follow("/p/1", callback=self.parse_good, dont_filter=True)
        if self.runs == 1:
            raise ValueError("the callback failed")


class WithErrback(Site):
    name = "with_errback"

    async def start(self) -> Any:
        yield scrapy.Request(self.url(self.path), errback=self.failed)

    def failed(self, failure: Any) -> Any:
        yield {"failed": type(failure.value).__name__}
        yield scrapy.Request(self.url("/p/2"))


class BadErrback(Site):
    name = "bad_errback"

    async def start(self) -> Any:
        yield scrapy.Request(self.url(self.path), errback=self.failed)

    def failed(self, _failure: Any) -> Any:
        raise ValueError("the errback failed")


class Handles(Site):
    name = "handles"
    handle_httpstatus_list = (502,)


class BadItem(Site):
    name = "bad_item"
    custom_settings = PICKY

    def parse(self, _response: Any) -> Any:
        yield {"take": "good"}
        yield {"take": "drop"}
        yield {"take": "fail"}


class Picky:
    """A pipeline that drops one item and stumbles over another."""

    failures = 0

    def process_item(self, item: Any) -> Any:
        if item["take"] == "drop":
            raise DropItem("not wanted")
        if item["take"] == "fail":
            type(self).failures += 1
            raise ValueError("the pipeline failed")
        return item | {"seen": True}


class Ignorer:
    """A downloader middleware that ignores one page."""

    def process_request(self, request: Any) -> None:
        if request.url.endswith("/p/1"):
            raise IgnoreRequest("not today")


class Ignored(Site):
    name = "ignored"
    path = "/p/1"
    custom_settings = IGNORING


class Retries(Site):
    """Asks for a page again by itself."""

    name = "retries"

    def parse(self, response: Any) -> Any:
        again = get_retry_request(response.request, spider=self, reason="thin", max_retry_times=2)
        if again:
            return again
        return {"times": response.meta["retry_times"]}


class Unstorable(Site):
    name = "unstorable"

    def parse(self, response: Any) -> Any:
        yield response.follow("/p/1", callback=lambda _: None)
        yield response.follow("/p/2", callback=self.parse_page, meta={"file": object()})
        yield response.follow("/p/3", callback=self.parse_page)

    def parse_page(self, response: Any) -> Any:
        yield {"url": response.url}


class Local(Site):
    """Wants files of this machine, too."""

    name = "local"

    def parse(self, response: Any) -> Any:
        for path in ("a", "b"):
            yield scrapy.Request(f"file:///no-such/{path}", callback=self.parse)
        yield {"url": response.url}


class Cancelled(Site):
    """Waits for something that somebody else cancels."""

    name = "cancelled"

    async def parse(self, response: Any) -> Any:
        yield {"url": response.url}
        if not self.settings.getbool("PIPELINE_IS_CANCELLED"):
            raise asyncio.CancelledError


class Cancelling:
    """A pipeline that does the same."""

    async def process_item(self, item: Any) -> Any:
        waited: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        waited.cancel()
        await waited
        return item


class Travels(Site):
    """All that a request may carry."""

    name = "travels"

    def parse(self, _response: Any) -> Any:
        yield scrapy.Request(
            self.url("/echo"),
            method="POST",
            body=b"\x00\xff",
            headers={"X-Mark": ["a", "b"]},
            cookies={"taste": "sweet"},
            callback=self.parse_echo,
            cb_kwargs={"number": 7, "pair": (1, 2)},
            meta={"nested": {"set": {1}}},
            dont_filter=True,
            priority=5,
            flags=["f"],
        )

    def parse_echo(self, response: Any, number: int, pair: Any) -> Any:
        yield {
            "echo": json.loads(response.text),
            "number": number,
            "pair": repr(pair),
            "nested": repr(response.meta["nested"]),
            "priority": response.request.priority,
            "flags": response.request.flags,
        }


class Closes(Links):
    name = "closes"

    def parse(self, response: Any) -> Any:
        if response.meta.get("depth"):
            raise CloseSpider("enough")
        yield from super().parse(response)


class Seeds(Site):
    """Many seeds and an item from start()."""

    name = "seeds"

    async def start(self) -> Any:
        yield {"from": "start"}
        for number in range(1_200):
            yield scrapy.Request(self.url(f"/p/{number % 39 + 1}?n={number}"))

    def parse(self, response: Any) -> Any:
        yield {"url": response.url}


class BadStart(Site):
    name = "bad_start"

    async def start(self) -> Any:
        yield scrapy.Request(self.url("/p/1"))
        raise ValueError("start failed")


class Login(Site):
    name = "login"
    path = "/login"

    def parse(self, response: Any) -> Any:
        form = {"user": "lab", "password": "secret"}
        yield FormRequest.from_response(response, formdata=form, callback=self.inside)

    def inside(self, response: Any) -> Any:
        yield {"url": response.url, "inside": "log out" in response.text.lower()}
        for number in range(1, 6):
            yield response.follow(f"/account/{number}", callback=self.page)

    def page(self, response: Any) -> Any:
        yield {"url": response.url, "status": response.status}


class Inline(Site):
    """Downloads something inside a callback."""

    name = "inline"

    async def parse(self, response: Any) -> Any:
        request = scrapy.Request(self.url("/p/1"))
        inner = await self.crawler.engine.download_async(request)
        yield {"url": response.url, "inner": inner.url}


class Idles(Site):
    """Brings more requests when there is nothing left, twice."""

    name = "idles"
    idled = 0

    @classmethod
    def from_crawler(cls, crawler: Any, *args: Any, **kwargs: Any) -> Any:
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.idle, signal=scrapy.signals.spider_idle)
        return spider

    def idle(self) -> None:
        self.idled += 1
        if self.idled <= 2:
            self.crawler.engine.crawl(scrapy.Request(self.url(f"/p/{self.idled}")))
            raise DontCloseSpider


class Sender(Site):
    """Addresses a page to another spider."""

    name = "sender"

    def parse(self, response: Any) -> Any:
        yield response.follow("/p/1", meta={"skitter_spider": "one", "note": "hello"})


class Offsite(Site):
    name = "offsite"
    allowed_domains = ("h0.lab",)

    def parse(self, response: Any) -> Any:
        yield {"url": response.url}
        yield scrapy.Request("http://h1.lab/")
        yield scrapy.Request("http://h0.lab/p/1")


class Echo(Site):
    name = "echo"
    path = "/echo"

    def parse(self, response: Any) -> Any:
        headers = json.loads(response.text)["headers"]
        yield {name.lower(): value for name, value in headers.items()}


class Files(Site):
    name = "files"
    custom_settings = FETCHING

    def parse(self, response: Any) -> Any:
        yield {"url": response.url, "file_urls": [self.url("/p/1"), self.url("/p/2")]}
