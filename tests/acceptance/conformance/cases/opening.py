"""What happens before the first page and after the last: parts that open, refuse and close."""

# ruff: noqa: RUF012 - as spiders are written

from __future__ import annotations

import asyncio
from typing import Any

from scrapy import signals
from scrapy.exceptions import CloseSpider, DontCloseSpider
from scrapy.http import Request

from tests.acceptance.conformance.cases.case import Case
from tests.acceptance.conformance.cases.parts import HERE, Part


class Refuses(Part):
    """A pipeline that does not want to begin."""

    def open_spider(self) -> None:
        raise CloseSpider("no database")

    def close_spider(self) -> None:
        self.saw("close")


class Fetches(Part):
    """A pipeline that fetches something before the first page."""

    async def open_spider(self) -> None:
        spider, engine = self.crawler.spider, self.crawler.engine
        answer = await engine.download_async(Request(spider.url("/echo/rates")))
        self.rates = answer.status

    def process_item(self, item: Any) -> Any:
        return item | {"rates": self.rates}


class PipelineRefuses(Case):
    """CloseSpider in a pipeline's `open_spider`: all are opened and closed, nothing is asked."""

    name = "pipeline_refuses"
    custom_settings = {
        "ITEM_PIPELINES": {f"{__name__}.Refuses": 1, f"{HERE}.Counts": 2},
        "EXTENSIONS": {f"{HERE}.Listener": 500},
    }
    paths = ("/echo/1",)
    gives = 0


class OpenedRefuses(Case):
    """CloseSpider in a handler of `spider_opened`; the engine does not even start."""

    name = "spider_opened_refuses"
    custom_settings = {"EXTENSIONS": {f"{HERE}.Listener": 500}}
    paths = ("/echo/1",)
    gives = 0

    @classmethod
    def from_crawler(cls, crawler: Any, *args: Any, **kwargs: Any) -> Any:
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.opened, signals.spider_opened)
        return spider

    def opened(self) -> None:
        raise CloseSpider("not today")


class ClosedWhileOpening(Case):
    """`close_spider_async` in a handler of `spider_opened`, which waits for it."""

    name = "closed_by_opened"
    paths = ("/echo/1",)
    gives = 0

    @classmethod
    def from_crawler(cls, crawler: Any, *args: Any, **kwargs: Any) -> Any:
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.opened, signals.spider_opened)
        return spider

    async def opened(self) -> None:
        await self.crawler.engine.close_spider_async(reason="nothing to do")


class TooBig(Case):
    """MEMUSAGE_LIMIT_MB is passed from the beginning: the spider is closed when it is open."""

    name = "closed_at_opening"
    custom_settings = {"MEMUSAGE_ENABLED": True, "MEMUSAGE_LIMIT_MB": 1}
    apart = ("memusage*", "downloader/*", "response_received_count")
    paths = ("/slow/100",)
    gives = 0


class FetchesAtOpening(Case):
    """`download_async` while a pipeline opens, and in a handler of `spider_opened`."""

    name = "fetches_at_opening"
    custom_settings = {"ITEM_PIPELINES": {f"{__name__}.Fetches": 1}}
    paths = ("/echo/1",)

    @classmethod
    def from_crawler(cls, crawler: Any, *args: Any, **kwargs: Any) -> Any:
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.opened, signals.spider_opened)
        return spider

    async def opened(self) -> None:
        engine: Any = self.crawler.engine
        answer = await engine.download_async(Request(self.url("/echo/token")))
        self.token = answer.json()["path"]

    def parse(self, _response: Any) -> Any:
        yield {"token": self.token}


class StartWaits(Case):
    """`start()` that waits for what a callback does with its first request."""

    name = "start_waits"
    gives = 2

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.known = asyncio.Event()

    async def start(self) -> Any:
        yield Request(self.url("/echo/login"), callback=self.parse_login)
        await asyncio.wait_for(self.known.wait(), 20)
        yield Request(self.url("/echo/after"))

    def parse_login(self, response: Any) -> Any:
        yield {"login": response.url}
        self.known.set()


class StartLazily(Case):
    """`start()` that gives the next request when there is nothing else to begin."""

    name = "start_lazily"
    gives = 3

    async def start(self) -> Any:
        for number in range(3):
            await asyncio.wait_for(self.crawler.signals.wait_for(signals.scheduler_empty), 20)
            yield Request(self.url(f"/echo/{number}"))


class StartCloses(Case):
    """CloseSpider in `start()`: what it gave before is kept."""

    name = "start_closes"

    async def start(self) -> Any:
        yield {"first": True}
        raise CloseSpider("enough")


class ClosedByEngine(Case):
    """`engine.close_spider`, which Scrapy keeps for old spiders."""

    name = "engine_close_spider"
    custom_settings = {"CONCURRENT_REQUESTS": 1}
    paths = ("/echo/1",)

    def parse(self, response: Any) -> Any:
        yield {"url": response.url}
        self.close_now()
        yield response.follow("/echo/never")

    def close_now(self) -> None:
        engine: Any = self.crawler.engine
        engine.close_spider(self, "the old way")


class StoppedByEngine(ClosedByEngine):
    """`engine.stop`, of the same age."""

    name = "engine_stop"

    def close_now(self) -> None:
        engine: Any = self.crawler.engine
        engine.stop()


class StoppedByCrawler(ClosedByEngine):
    """`crawler.stop`."""

    name = "crawler_stop"

    def close_now(self) -> None:
        self.crawler.stop()


class ClosedTwice(ClosedByEngine):
    """Two want to close at once: the first one's reason counts."""

    name = "closed_twice"

    def close_now(self) -> None:
        engine: Any = self.crawler.engine
        for reason in ("first", "second"):
            engine.close_spider(self, reason)


class WithoutItems(Case):
    """CLOSESPIDER_PAGECOUNT_NO_ITEM."""

    name = "close_spider_pages_without_item"
    custom_settings = {"CLOSESPIDER_PAGECOUNT_NO_ITEM": 3, "CONCURRENT_REQUESTS": 1}
    paths = ("/echo/0",)

    def parse(self, response: Any) -> Any:
        number = int(response.url[-1])
        if not number:
            yield {"number": number}
        yield response.follow(f"/echo/{number + 1}")


class IdleOften(Case):
    """`spider_idle` that keeps the spider open twice, and then names a reason."""

    name = "spider_idle_often"
    paths = ("/echo/0",)
    gives = 3
    asked = 0

    @classmethod
    def from_crawler(cls, crawler: Any, *args: Any, **kwargs: Any) -> Any:
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.idle, signals.spider_idle)
        return spider

    def idle(self) -> None:
        engine: Any = self.crawler.engine
        self.asked += 1
        if self.asked > 2:
            raise CloseSpider("nothing new")
        engine.crawl(Request(self.url(f"/echo/idle-{self.asked}")))
        raise DontCloseSpider
