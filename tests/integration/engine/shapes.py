"""Spiders for the comparison of engines: each does one thing."""

from __future__ import annotations

import asyncio
from typing import Any
from urllib.parse import urljoin

import scrapy
from scrapy import signals
from scrapy.exceptions import CloseSpider, DropItem, IgnoreRequest, StopDownload
from scrapy.http import FormRequest, JsonRequest
from scrapy.linkextractors import LinkExtractor
from scrapy.loader import ItemLoader
from scrapy.spiders import CrawlSpider, Rule, XMLFeedSpider

HERE = "tests.integration.engine.shapes"


class Page(scrapy.Spider):
    """One page, and what it says of itself."""

    name = "page"

    def __init__(self, site: str = "", path: str = "/", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.site = site
        self.path = path

    def url(self, path: str) -> str:
        return urljoin(self.site, path)

    async def start(self) -> Any:
        yield scrapy.Request(self.url(self.path), errback=self.failed)

    def parse(self, response: Any) -> Any:
        return self.described(response)

    def described(self, response: Any) -> Any:
        text = isinstance(response, scrapy.http.TextResponse)
        html = isinstance(response, scrapy.http.HtmlResponse)
        yield {
            "path": response.url.removeprefix(self.site),
            "status": response.status,
            "size": len(response.body),
            "text": text,
            "html": html,
            "encoding": response.encoding if text else None,
            "title": response.css("title::text").get() if html else None,
            "echo": response.css("pre::text").get() if html else None,
            "flags": response.flags,
            "redirects": response.meta.get("redirect_urls", []) != [],
            "reasons": response.meta.get("redirect_reasons"),
            "protocol": response.protocol,
            "address": str(response.ip_address),
        }

    def failed(self, failure: Any) -> Any:
        yield {"failed": type(failure.value).__name__, "message": str(failure.value)[:40]}


class Follow(Page):
    name = "follow"
    custom_settings = {"DEPTH_LIMIT": 2}  # noqa: RUF012 - as in every Scrapy project

    def parse(self, response: Any) -> Any:
        yield from super().parse(response)
        yield from response.follow_all(css="a")


class Rules(CrawlSpider):
    name = "crawl_rules"
    rules = (Rule(LinkExtractor(allow=r"/page/\d$"), callback="parse_page", follow=False),)

    def __init__(self, site: str = "", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.start_urls = [site + "/"]

    def parse_page(self, response: Any) -> Any:
        return {"title": response.css("title::text").get(), "text": response.meta["link_text"]}


class Feed(XMLFeedSpider):
    name = "xml_feed"
    itertag = "item"

    def __init__(self, site: str = "", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.start_urls = [f"{site}/feed"]

    def parse_node(self, _response: Any, node: Any) -> Any:
        return {"title": node.xpath("title/text()").get()}


class Ways(Page):
    """Callbacks of each kind."""

    name = "ways"

    def parse(self, response: Any) -> Any:
        for number, callback in enumerate((self.one, self.several, self.later, self.by_and_by,
                                           self.nothing, self.loaded)):  # fmt: skip
            yield response.follow(f"/page/{number}", callback, cb_kwargs={"number": number})

    def one(self, _response: Any, number: int) -> Any:
        return {"one": number}

    def several(self, _response: Any, number: int) -> Any:
        return [{"several": number}, None, {"more": number}]

    async def later(self, _response: Any, number: int) -> Any:
        await asyncio.sleep(0.01)
        return {"later": number}

    async def by_and_by(self, response: Any, number: int) -> Any:
        for step in range(3):
            await asyncio.sleep(0)
            yield {"step": step, "number": number}
        yield response.follow("/page/by-and-by", self.one, cb_kwargs={"number": 9})

    def nothing(self, _response: Any, number: int) -> None:
        assert number == 4

    def loaded(self, response: Any, number: int) -> Any:
        loader = ItemLoader(item=Thing(), response=response)
        loader.add_css("title", "title::text")
        loader.add_value("number", number)
        return loader.load_item()


class Thing(scrapy.Item):
    title = scrapy.Field()
    number = scrapy.Field()


class Requests(Page):
    """Requests of each kind."""

    name = "requests"
    jar: str | None = "own"

    def parse(self, response: Any) -> Any:
        echo, page = self.url("/echo"), self.described
        yield FormRequest(echo, formdata={"a": "b c"}, callback=page, dont_filter=True)
        yield JsonRequest(echo, data={"a": [1]}, callback=page, dont_filter=True)
        yield scrapy.Request(echo + "?head", method="HEAD", callback=page)
        own = {"User-Agent": "Mine", "X-Custom": "1"}
        jar = {"cookiejar": self.jar}
        yield scrapy.Request(echo + "?own", page, headers=own, cookies={"a": "b"}, meta=jar)
        yield scrapy.Request(echo + "?jar", meta={"cookiejar": "other"}, callback=page)
        yield scrapy.Request(echo + "?auth", meta={"http_user": "u", "http_pass": "p"},
                             callback=page)  # fmt: skip
        yield response.follow("/moved-keeping", method="POST", body="kept", callback=page)


class SharedJar(Requests):
    """The cookies of one request go along with those that come after it."""

    name = "shared_jar"
    jar = None


class Custom(Page):
    """With components of a project's own."""

    name = "custom"
    custom_settings = {  # noqa: RUF012
        "DOWNLOADER_MIDDLEWARES": {f"{HERE}.Outer": 450, f"{HERE}.Inner": 595},
        "SPIDER_MIDDLEWARES": {f"{HERE}.Filtering": 543},
        "ITEM_PIPELINES": {f"{HERE}.Second": 200, f"{HERE}.First": 100},
        "EXTENSIONS": {f"{HERE}.Listening": 1},
    }

    def parse(self, response: Any) -> Any:
        yield {
            "path": response.url.removeprefix(self.site),
            "seen": response.meta.get("seen"),
            "back": response.meta.get("back"),
            "title": response.css("title::text").get(),
        }
        if self.path in response.url:
            for path in ("/page/1", "/page/2", "/ignored", "/made", "/raises", "/moved"):
                yield response.follow(path, errback=self.failed)
        if "raises" in response.url:
            raise KeyError("raised")


class Outer:
    """Before the user agent is set, after the default headers."""

    crawler: Any

    @classmethod
    def from_crawler(cls, crawler: Any) -> Any:
        made = cls()
        made.crawler = crawler
        return made

    def process_request(self, request: Any) -> Any:
        request.meta["seen"] = sorted(name.decode() for name in request.headers)
        if request.url.endswith("/ignored"):
            raise IgnoreRequest("not today")
        if request.url.endswith("/made"):
            return scrapy.http.HtmlResponse(request.url, body=b"<title>made</title>")
        return None

    async def process_response(self, request: Any, response: Any) -> Any:
        await asyncio.sleep(0)
        request.meta["back"] = [*request.meta.get("back", []), f"outer {response.status}"]
        return response


class Inner:
    """Between compression and redirects: it sees what is still compressed."""

    def process_response(self, request: Any, response: Any) -> Any:
        encoding = response.headers.get("Content-Encoding")
        request.meta["back"] = [f"inner {encoding!r}"]
        return response


class Filtering:
    async def process_spider_output(self, response: Any, result: Any) -> Any:  # noqa: ARG002
        async for one in result:
            if isinstance(one, scrapy.Request) and one.url.endswith("/page/2"):
                continue
            if isinstance(one, dict):
                one["passed"] = True
            yield one

    def process_spider_exception(self, response: Any, exception: Exception) -> Any:
        if isinstance(exception, KeyError):
            return [{"recovered": str(exception), "from": response.status}]
        return None

    async def process_start(self, start: Any) -> Any:
        async for one in start:
            yield one
        yield {"added": "at the start"}


class First:
    stats: Any

    @classmethod
    def from_crawler(cls, crawler: Any) -> Any:
        made = cls()
        made.stats = crawler.stats
        return made

    def open_spider(self) -> None:
        self.stats.set_value("first/open", 1)

    async def close_spider(self) -> None:
        self.stats.set_value("first/closed", 1)

    async def process_item(self, item: Any) -> Any:
        await asyncio.sleep(0)
        if item.get("path") == "/made":
            raise DropItem("not wanted")
        item["order"] = ["first"]
        return item


class Second:
    def process_item(self, item: Any) -> Any:
        item["order"].append("second")
        return item


class Listening:
    """Counts the signals that it hears."""

    NAMES = ("spider_opened", "engine_started", "request_scheduled", "request_reached_downloader",
             "request_left_downloader", "response_received", "response_downloaded",
             "headers_received", "bytes_received", "item_scraped", "item_dropped",
             "spider_error")  # fmt: skip
    handlers: list[Any]

    @classmethod
    def from_crawler(cls, crawler: Any) -> Any:
        made = cls()
        made.handlers = [made.counting(crawler, name) for name in cls.NAMES]
        return made

    def counting(self, crawler: Any, name: str) -> Any:
        def count() -> None:
            crawler.stats.inc_value(f"heard/{name}")

        crawler.signals.connect(count, signal=getattr(signals, name))
        return count


class Stopping(Page):
    """Stops a download when the head is there."""

    name = "stopping"

    @classmethod
    def from_crawler(cls, crawler: Any, *args: Any, **kwargs: Any) -> Any:
        made = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(made.head, signal=signals.headers_received)
        return made

    def head(self) -> None:
        raise StopDownload(fail=False)

    def parse(self, response: Any) -> Any:
        yield {"size": len(response.body), "flags": response.flags, "status": response.status}


class Closing(Page):
    name = "closing"

    def parse(self, response: Any) -> Any:
        yield from super().parse(response)
        raise CloseSpider("enough")


class Handling(Page):
    name = "handling"
    handle_httpstatus_list = (404, 301)
