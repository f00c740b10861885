"""Components of a project that the cases use: middlewares, pipelines, extensions."""

from __future__ import annotations

import asyncio
from typing import Any, Self

from itemadapter import ItemAdapter
from scrapy import signals
from scrapy.exceptions import DropItem, IgnoreRequest
from scrapy.http import HtmlResponse, Request
from scrapy.spidermiddlewares.base import BaseSpiderMiddleware
from twisted.internet.defer import Deferred, fail, inlineCallbacks, succeed

HERE = "tests.acceptance.conformance.cases.parts"


class Part:
    """Knows its crawler, and keeps what it saw in the stats."""

    def __init__(self, crawler: Any) -> None:
        self.crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Any) -> Self:
        return cls(crawler)

    def saw(self, what: str) -> None:
        self.crawler.stats.inc_value(f"case/{type(self).__name__}/{what}")


class Outer(Part):
    """Before Scrapy's own: sees redirects as requests, and bodies unpacked."""

    def process_request(self, request: Request) -> None:
        trail = (request.headers.get("X-Trail") or b"").decode()
        request.headers["X-Trail"] = f"{trail}>outer"
        request.headers.setdefault("X-Agent-Known", str(b"User-Agent" in request.headers))

    def process_response(self, request: Request, response: Any) -> Any:
        self.saw(f"response {response.status} {request.method}")
        response.headers.appendlist("X-Way", "outer")
        return response


class Inner(Part):
    """Behind Scrapy's own: sees what goes over the wire."""

    def process_request(self, request: Request) -> None:
        trail = (request.headers.get("X-Trail") or b"").decode()
        request.headers["X-Trail"] = f"{trail}>inner"
        self.saw(f"cookie {b'Cookie' in request.headers}")

    def process_response(self, response: Any) -> Any:
        packed = b"Content-Encoding" in response.headers
        self.saw(f"response {response.status} packed {packed}")
        response.headers.appendlist("X-Way", "inner")
        return response


class Answers(Part):
    """Answers some requests by itself, leads others elsewhere, ignores yet others."""

    async def process_request(self, request: Request) -> Any:
        await asyncio.sleep(0)
        if "answered" in request.url:
            return HtmlResponse(request.url, body=b"<h1>mine</h1>", headers={"X-By": "answers"})
        if "elsewhere" in request.url:
            return request.replace(url=request.url.replace("elsewhere", "there"))
        if "ignored" in request.url:
            raise IgnoreRequest("not this one")
        return None


class Replaces(Part):
    """Replaces responses, asks for others, and stands in for failures."""

    def process_response(self, request: Request, response: Any) -> Any:
        if "replaced" in request.url:
            return response.replace(body=b"replaced", flags=["replaced"])
        if "again" in request.url and "again=2" not in request.url:
            return request.replace(url=request.url + "?again=2", dont_filter=True)
        if "refused" in request.url:
            raise IgnoreRequest("refused after all")
        return response

    def process_exception(self, request: Request, exception: Exception) -> Any:
        self.saw(f"exception {isinstance(exception, IgnoreRequest)}")
        if "raw/short" in request.url:
            return HtmlResponse(request.url, body=b"<h1>stand-in</h1>")
        if "raw/nothing" in request.url:
            return Request(request.url.partition("/raw")[0] + "/echo/instead")
        return None


class Raises(Part):
    """Raises what nobody expects."""

    def process_request(self, request: Request) -> None:
        if "raised" in request.url:
            raise ValueError("the middleware failed")


class Spidery(Part):
    """A spider middleware with all its methods."""

    def process_spider_input(self, response: Any) -> None:
        self.saw(f"input {response.status}")
        if "bad-input" in response.url:
            raise ValueError("not to be had")

    async def process_spider_output(self, response: Any, result: Any) -> Any:  # noqa: ARG002
        async for output in result:
            if isinstance(output, Request):
                output.meta["seen_by"] = "spidery"
                if "dropped" in output.url:
                    continue
            elif "drop" in ItemAdapter(output):
                continue
            else:
                output = output | {"spidery": True}  # noqa: PLW2901
            yield output

    def process_spider_exception(self, response: Any, exception: Exception) -> Any:
        self.saw(f"exception {type(exception).__name__}")
        if "rescued" in response.url:
            return [{"rescued": response.url}]
        return None

    async def process_start(self, start: Any) -> Any:
        async for output in start:
            if isinstance(output, Request):
                output.headers["X-Start"] = "spidery"
            yield output


class Second(Part):
    """One more, nearer to the engine."""

    def process_spider_output(self, response: Any, result: Any) -> Any:  # noqa: ARG002
        for output in result:
            yield output if isinstance(output, Request) else output | {"second": len(output)}

    async def process_spider_output_async(self, response: Any, result: Any) -> Any:  # noqa: ARG002
        async for output in result:
            yield output if isinstance(output, Request) else output | {"second": len(output)}


class Rescues(Part):
    """A spider middleware that deals with exceptions in many ways."""

    def process_spider_exception(self, response: Any, exception: Exception) -> Any:
        self.saw(f"exception {type(exception).__name__}")
        way = response.url.rpartition("/")[2]
        if way == "raises":
            raise KeyError("the middleware failed")
        if way == "asks":
            return [Request(response.url + "-again")]
        if way == "waits":
            return self._later()
        return 5 if way == "returns-rubbish" else None

    async def _later(self) -> Any:
        await asyncio.sleep(0)
        yield {"rescued": "later"}


class Stamps(BaseSpiderMiddleware):
    """A spider middleware on Scrapy's base, which sees the start, too."""

    def get_processed_request(self, request: Request, response: Any) -> Request | None:
        request.meta["stamp"] = "start" if response is None else "page"
        return None if "unwanted" in request.url else request

    def get_processed_item(self, item: Any, response: Any) -> Any:
        return item | {"of_start": response is None}


class Deferring(Part):
    """A pipeline of the age of Deferreds."""

    def open_spider(self) -> Any:
        return succeed(None)

    @inlineCallbacks
    def process_item(self, item: Any) -> Any:
        number = yield succeed(2)
        if item.get("drop"):
            yield fail(DropItem("not wanted"))
        return item | {"number": number}

    def close_spider(self) -> Any:
        closed: Deferred[None] = Deferred()
        closed.addCallback(lambda _: self.saw("closed"))
        asyncio.get_running_loop().call_later(0.01, closed.callback, None)
        return closed


class Picks(Part):
    """A pipeline that drops, raises, and returns other items."""

    def open_spider(self) -> None:
        self.saw("open")

    def close_spider(self) -> None:
        self.saw("close")

    def process_item(self, item: Any) -> Any:
        take = ItemAdapter(item)["take"]
        if take == "drop":
            raise DropItem("not wanted")
        if take == "fail":
            raise ValueError("the pipeline failed")
        if take == "other":
            return {"take": "another", "was": dict(item)}
        return item


class Counts(Part):
    """An async pipeline, behind it."""

    async def open_spider(self) -> None:
        await asyncio.sleep(0)
        self.saw("open")

    async def process_item(self, item: Any) -> Any:
        await asyncio.sleep(0)
        self.saw(f"item {item['take']}")
        return item | {"counted": True}

    async def close_spider(self) -> None:
        self.saw("close")


class Listener(Part):
    """An extension that hears everything."""

    NAMES = (
        "engine_started", "engine_stopped", "spider_opened", "spider_closed", "spider_error",
        "item_scraped", "item_dropped", "item_error", "request_scheduled",
        "request_reached_downloader", "request_left_downloader", "response_received",
        "response_downloaded", "headers_received", "spider_idle",
    )  # fmt: skip

    def __init__(self, crawler: Any) -> None:
        super().__init__(crawler)
        self.hearers = {name: self._hearer(name) for name in self.NAMES}
        for name, hear in self.hearers.items():
            crawler.signals.connect(hear, getattr(signals, name))

    def _hearer(self, name: str) -> Any:
        def hear(**what: Any) -> None:
            known = {"reason", "request", "response", "item", "failure", "headers", "body_length"}
            self.saw(f"{name}({','.join(sorted(known & what.keys()))})")
            if "response" in what and name != "item_error":
                self.saw(f"{name} {getattr(what['response'], 'status', None)}")

        return hear
