"""A project's own middlewares, pipelines and extensions, at their places."""

# ruff: noqa: RUF012 - as spiders are written

from __future__ import annotations

from typing import Any, ClassVar

import scrapy
from scrapy import signals
from scrapy.exceptions import CloseSpider, StopDownload

from tests.acceptance.conformance.cases.case import Case, seen
from tests.acceptance.conformance.cases.parts import HERE
from tests.acceptance.conformance.cases.retries import Failing

AROUND: dict[str, dict[str, int | None]] = {
    "DOWNLOADER_MIDDLEWARES": {f"{HERE}.Outer": 50, f"{HERE}.Inner": 990}
}


class Order(Failing):
    """Middlewares before and behind Scrapy's own: what each sees of a redirect with cookies."""

    name = "downloader_middleware_order"
    custom_settings = AROUND
    paths: ClassVar[tuple[str, ...]] = (
        "/redirect/302?c=a%3D1&to=%2Fbody%2Fgzip",
        "/status/404",
        "/status/500?first=1",
    )
    gives = 3

    def parse(self, response: Any) -> Any:
        yield seen(response, way=[value.decode() for value in response.headers.getlist("X-Way")])


class Between(Order):
    """Middlewares between Scrapy's own: before and behind the one of cookies."""

    name = "downloader_middleware_between"
    custom_settings = {"DOWNLOADER_MIDDLEWARES": {f"{HERE}.Outer": 690, f"{HERE}.Inner": 710}}


class WithoutSome(Order):
    """Scrapy's own middlewares taken out, or moved."""

    name = "downloader_middleware_off"
    custom_settings = {
        "DOWNLOADER_MIDDLEWARES": {
            "scrapy.downloadermiddlewares.redirect.RedirectMiddleware": None,
            "scrapy.downloadermiddlewares.httpcompression.HttpCompressionMiddleware": None,
            "scrapy.downloadermiddlewares.useragent.UserAgentMiddleware": 20,
            **AROUND["DOWNLOADER_MIDDLEWARES"],
        }
    }
    paths = ("/redirect/302?to=%2Fecho%2F", "/body/gzip")
    gives = 2


class AnswersItself(Failing):
    """`process_request` that returns a response or a request, or raises IgnoreRequest."""

    name = "downloader_middleware_answers"
    custom_settings = {
        "DOWNLOADER_MIDDLEWARES": {f"{HERE}.Answers": 300, **AROUND["DOWNLOADER_MIDDLEWARES"]}
    }
    paths = ("/echo/answered", "/echo/elsewhere", "/echo/ignored", "/echo/as-it-is")
    gives = 4


class ReplacesAnswers(Failing):
    """`process_response` and `process_exception` that return something else, or raise."""

    name = "downloader_middleware_replaces"
    custom_settings = {
        "RETRY_ENABLED": False,
        "DOWNLOADER_MIDDLEWARES": {f"{HERE}.Replaces": 300},
    }
    paths: ClassVar[tuple[str, ...]] = (
        "/echo/replaced",
        "/echo/again",
        "/echo/refused",
        "/raw/short",
        "/status/404",
    )
    gives = 5


class ReplacesFailure(ReplacesAnswers):
    """`process_exception` that asks for something else."""

    name = "downloader_middleware_asks_instead"
    paths = ("/raw/nothing",)
    gives = 1


class MiddlewareRaises(Failing):
    """A middleware that raises: the errback gets it."""

    name = "downloader_middleware_raises"
    custom_settings = {"DOWNLOADER_MIDDLEWARES": {f"{HERE}.Raises": 300}}
    paths = ("/echo/raised", "/echo/fine")
    gives = 2


class SpiderMiddleware(Case):
    """A spider middleware sees input, output and exceptions, and may change them."""

    name = "spider_middleware"
    custom_settings = {"SPIDER_MIDDLEWARES": {f"{HERE}.Spidery": 543}}
    gives = 6

    async def start(self) -> Any:
        for path in ("/echo/fine", "/echo/bad-input", "/echo/rescued", "/echo/lost"):
            yield scrapy.Request(self.url(path), errback=self.failed)

    def parse(self, response: Any) -> Any:
        yield {"url": response.url, "seen_by": response.meta.get("seen_by")}
        yield {"drop": True}
        if response.url.endswith("/fine"):
            yield response.follow("/echo/more")
            yield response.follow("/echo/dropped")
        if response.url.endswith(("/rescued", "/lost")):
            raise ValueError("the callback failed")


class SpiderMiddlewares(SpiderMiddleware):
    """Two of them, in their order around Scrapy's own."""

    name = "spider_middleware_order"
    custom_settings = {"SPIDER_MIDDLEWARES": {f"{HERE}.Spidery": 543, f"{HERE}.Second": 10}}


class SpiderMiddlewareOff(Case):
    """Scrapy's own spider middlewares taken out."""

    name = "spider_middleware_off"
    custom_settings = {
        "SPIDER_MIDDLEWARES": {
            "scrapy.spidermiddlewares.httperror.HttpErrorMiddleware": None,
            "scrapy.spidermiddlewares.referer.RefererMiddleware": None,
        }
    }
    paths = ("/status/404", "/tree/")
    gives = 4

    def parse(self, response: Any) -> Any:
        yield seen(response)
        if response.url.endswith("/tree/"):
            yield from response.follow_all(css="a")


class SpiderMiddlewareRescues(Case):
    """`process_spider_exception` that raises, asks for more, waits, or returns rubbish."""

    name = "spider_middleware_rescues"
    custom_settings = {"SPIDER_MIDDLEWARES": {f"{HERE}.Rescues": 543}}
    paths = ("/echo/raises", "/echo/asks", "/echo/waits", "/echo/returns-rubbish", "/echo/as-it-is")
    gives = 7

    def parse(self, response: Any) -> Any:
        yield {"url": response.url}
        if not response.url.endswith("again"):
            raise ValueError("the callback failed")


class SpiderMiddlewareBase(Case):
    """A middleware on `BaseSpiderMiddleware`: requests and items of the start and of pages."""

    name = "spider_middleware_base"
    custom_settings = {"SPIDER_MIDDLEWARES": {f"{HERE}.Stamps": 543}}
    gives = 3

    async def start(self) -> Any:
        yield {"first": True}
        yield scrapy.Request(self.url("/echo/1"))

    def parse(self, response: Any) -> Any:
        yield {"url": response.url, "stamp": response.meta["stamp"]}
        if response.url.endswith("1"):
            yield response.follow("/echo/2")
            yield response.follow("/echo/unwanted")


class PipelineOfDeferreds(Case):
    """A pipeline whose methods return Deferreds."""

    name = "pipeline_deferreds"
    custom_settings = {"ITEM_PIPELINES": {f"{HERE}.Deferring": 300}}
    paths = ("/echo/",)

    def parse(self, _response: Any) -> Any:
        yield {"name": "kept"}
        yield {"drop": True}


class Pipelines(Case):
    """Pipelines that drop, raise and return other items, then an async one."""

    name = "pipelines"
    custom_settings = {"ITEM_PIPELINES": {f"{HERE}.Picks": 300, f"{HERE}.Counts": 400}}
    paths = ("/echo/",)
    gives = 3

    def parse(self, _response: Any) -> Any:
        for take in ("good", "drop", "fail", "other", "last"):
            yield {"take": take}


class Signals(Failing):
    """All signals, with their arguments."""

    name = "signals"
    custom_settings = {
        "EXTENSIONS": {f"{HERE}.Listener": 500},
        "ITEM_PIPELINES": {f"{HERE}.Picks": 300},
        "RETRY_ENABLED": False,
    }
    paths = ("/echo/1", "/status/404", "/status/500", "/hops/2")
    gives = 4

    def parse(self, response: Any) -> Any:
        yield {"take": "good", "url": response.url}
        if response.url.endswith("/1"):
            yield {"take": "drop"}
            yield {"take": "fail"}
            yield response.follow("/echo/2")
        if response.url.endswith("/2"):
            raise ValueError("the callback failed")

    def failed(self, failure: Any) -> Any:
        self.logger.info("failed: %s", failure.value)
        if failure.value.response.status == 404:
            yield {"take": "failed"}


class Stops(Failing):
    """StopDownload at the head, as success and as failure."""

    name = "stop_download"
    gives = 3
    apart = ("downloader/response_bytes",)

    @classmethod
    def from_crawler(cls, crawler: Any, *args: Any, **kwargs: Any) -> Any:
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.head, signals.headers_received)
        return spider

    def head(self, request: Any) -> None:
        if "stop" in request.url:
            raise StopDownload(fail="fail" in request.url)

    async def start(self) -> Any:
        for path in ("/big/9000?stop", "/big/9000?stop-and-fail", "/echo/go"):
            yield scrapy.Request(self.url(path), errback=self.stopped)

    def stopped(self, failure: Any) -> Any:
        response = failure.value.response
        yield {"stopped": response.url, "flags": response.flags, "body": response.text}


class Heard(Failing):
    """What `headers_received` tells of lengths; StopDownload comes before DOWNLOAD_MAXSIZE."""

    name = "headers_received"
    custom_settings = {"RETRY_ENABLED": False, "DOWNLOAD_MAXSIZE": 5000}
    gives = 7
    apart = ("downloader/response_bytes",)

    @classmethod
    def from_crawler(cls, crawler: Any, *args: Any, **kwargs: Any) -> Any:
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.head, signals.headers_received)
        crawler.signals.connect(spider.data, signals.bytes_received)
        return spider

    async def start(self) -> Any:
        paths = (
            "/links", "/status/204", "/big/9000?stop", "/big/9000", "/big/4000?half",
            "/big/4000?half-fail",
        )  # fmt: skip
        for request in self.start_requests_of(*paths):
            yield request
        yield scrapy.Request(self.url("/links?head"), method="HEAD")

    def head(self, request: Any, body_length: int) -> None:
        stats: Any = self.crawler.stats
        stats.inc_value(f"case/{body_length}")
        if "stop" in request.url:
            raise StopDownload(fail=False)

    def data(self, request: Any, data: bytes) -> None:
        assert data
        if "half" in request.url:
            raise StopDownload(fail="fail" in request.url)

    def parse(self, response: Any) -> Any:
        yield {"url": response.url, "flags": response.flags, "some": len(response.body) > 0}


class Closes(Case):
    """CloseSpider in a callback: nothing more is asked."""

    name = "close_spider"
    custom_settings = {"CONCURRENT_REQUESTS": 1}
    paths = ("/echo/1",)
    gives = 1

    def parse(self, response: Any) -> Any:
        yield {"url": response.url}
        yield response.follow("/echo/never")
        raise CloseSpider("enough")

    def closed(self, reason: str) -> None:
        stats: Any = self.crawler.stats
        stats.set_value("case/closed", reason)


class ClosesByPages(Case):
    """CLOSESPIDER_PAGECOUNT."""

    name = "close_spider_pages"
    custom_settings = {"CLOSESPIDER_PAGECOUNT": 3, "CONCURRENT_REQUESTS": 1}
    paths = ("/echo/0",)
    gives = 3

    def parse(self, response: Any) -> Any:
        yield {"url": response.url}
        yield response.follow(f"/echo/{int(response.url[-1]) + 1}")


class ClosesByItems(Case):
    """CLOSESPIDER_ITEMCOUNT."""

    name = "close_spider_items"
    custom_settings = {"CLOSESPIDER_ITEMCOUNT": 2, "CONCURRENT_REQUESTS": 1}
    paths = ("/echo/0",)
    gives = 3

    def parse(self, _response: Any) -> Any:
        yield from ({"number": number} for number in range(3))


class ClosesByErrors(Case):
    """CLOSESPIDER_ERRORCOUNT."""

    name = "close_spider_errors"
    custom_settings = {"CLOSESPIDER_ERRORCOUNT": 1, "CONCURRENT_REQUESTS": 1}
    paths = ("/echo/0",)

    def parse(self, _response: Any) -> Any:
        yield {"before": True}
        raise ValueError("the callback failed")


class Idle(Case):
    """`spider_idle`: more is brought, then no more."""

    name = "spider_idle"
    paths = ("/echo/1",)
    gives = 2

    @classmethod
    def from_crawler(cls, crawler: Any, *args: Any, **kwargs: Any) -> Any:
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.idle, signals.spider_idle)
        spider.left = 1
        return spider

    def idle(self) -> None:
        engine: Any = self.crawler.engine
        if self.left:  # type: ignore[has-type]
            self.left = 0
            engine.crawl(scrapy.Request(self.url("/echo/idle")))
