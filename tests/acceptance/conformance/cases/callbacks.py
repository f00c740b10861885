"""Callbacks and starts of every form, and what is handed on from request to response."""

from __future__ import annotations

import asyncio
import dataclasses
import datetime as dt
import enum
import uuid
from decimal import Decimal
from typing import Any, NamedTuple

import attrs
import scrapy
from scrapy.http import Request

from tests.acceptance.conformance.cases.case import Case, seen


class AsyncGenerator(Case):
    """A callback that is an async generator."""

    name = "callback_async_generator"
    paths = ("/echo/1",)
    gives = 3

    async def parse(self, response: Any) -> Any:
        yield {"first": True}
        await asyncio.sleep(0)
        yield response.follow("/echo/2", callback=self.parse_second)
        yield {"last": True}

    async def parse_second(self, response: Any) -> Any:
        await asyncio.sleep(0.01)
        return [seen(response), None]


class Coroutine(Case):
    """Callbacks that are coroutines, and give one thing, many, or none."""

    name = "callback_coroutine"
    paths = ("/echo/1", "/echo/2", "/echo/3")
    gives = 3

    async def parse(self, response: Any) -> Any:
        if response.url.endswith("1"):
            return {"one": 1}
        if response.url.endswith("2"):
            return ({"number": number} for number in range(2))
        return None


class Returns(Case):
    """Callbacks that return an item, a request, a list, a mixture, or nothing."""

    name = "callback_returns"
    paths = ("/echo/item", "/echo/request", "/echo/list", "/echo/none", "/echo/tuple")
    gives = 5

    def parse(self, response: Any) -> Any:
        kind = response.url.rpartition("/")[2]
        return {
            "item": {"kind": kind},
            "request": response.follow("/echo/item?2"),
            "list": [{"kind": kind, "number": number} for number in range(2)],
            "none": None,
            "tuple": ({"kind": kind}, None),
            "item?2": {"kind": kind},
        }[kind]


class Static(Case):
    """Callbacks and errbacks that are static methods, or methods of the class."""

    name = "callback_static"
    paths = ("/links",)
    gives = 3

    def parse(self, response: Any) -> Any:
        yield response.follow("/echo/1", callback=self.parse_static)
        yield response.follow("/echo/2", callback=self.parse_class, cb_kwargs={"word": "x"})
        yield response.follow("/status/404", errback=self.lost)

    @staticmethod
    def parse_static(response: Any) -> Any:
        yield {"static": response.url}

    @classmethod
    def parse_class(cls, response: Any, word: str) -> Any:
        return {cls.name: response.url, "word": word}

    @staticmethod
    def lost(failure: Any) -> Any:
        yield {"lost": failure.request.url}


class Inline(Case):
    """`engine.download_async` in a callback."""

    name = "callback_downloads"
    paths = ("/echo/1",)

    async def parse(self, response: Any) -> Any:
        engine: Any = self.crawler.engine
        inner = await engine.download_async(Request(response.urljoin("/hops/2")))
        yield {"outer": response.url, "inner": inner.url, "status": inner.status}


class HandedOn(Case):
    """`cb_kwargs`, `meta` and flags arrive as they were given."""

    name = "handed_on"

    async def start(self) -> Any:
        yield Request(
            self.url("/hops/2"),
            callback=self.parse_args,
            cb_kwargs={"number": 1, "texts": ["a", {"b": (1, 2)}], "none": None},
            meta={"deep": {"list": [1, 2.5, "x"], "bytes": b"\xff"}, "when": dt.date(2024, 2, 29)},
            flags=["mine"],
            encoding="latin-1",
        )

    def parse_args(self, response: Any, number: int, texts: list[Any], none: Any) -> Any:
        request = response.request
        yield {
            "args": [number, texts, none],
            "deep": repr(response.meta["deep"]),
            "when": str(response.meta["when"]),
            "kwargs": sorted(response.cb_kwargs),
            "flags": request.flags,
            "encoding": request.encoding,
            "callback": request.callback.__name__,
        }


class Shelf(enum.Enum):
    TOP = "t"


class Place(NamedTuple):
    shelf: Shelf
    number: int


class HandedOnKinds(Case):
    """`cb_kwargs` of other kinds than text and numbers keep them."""

    name = "handed_on_kinds"

    async def start(self) -> Any:
        handed = [
            Place(Shelf.TOP, 3),
            Plain("plain", ["a"]),
            Declared(name="declared"),
            dt.datetime(2024, 2, 29, 1, tzinfo=dt.UTC),
            dt.time(1, 2),
            dt.timedelta(minutes=3),
            uuid.UUID(int=5),
            Decimal("1.10"),
        ]
        yield Request(self.url("/hops/2"), self.parse_kinds, cb_kwargs={"handed": handed})

    def parse_kinds(self, _response: Any, handed: list[Any]) -> Any:
        yield {"handed": [repr(one) for one in handed]}


class MetaOfParent(Case):
    """`response.meta` handed on to the next request, depth and all."""

    name = "meta_of_parent"
    paths = ("/echo/0",)
    gives = 4

    def parse(self, response: Any) -> Any:
        trail = response.meta.get("trail", [])
        yield {"trail": trail, "depth": response.meta["depth"]}
        if len(trail) < 3:
            meta = response.meta | {"trail": [*trail, response.url]}
            yield response.follow(f"/echo/{len(trail) + 1}", meta=meta)


class StartGives(Case):
    """`start()` gives requests and items."""

    name = "start_gives"
    gives = 3

    async def start(self) -> Any:
        yield {"before": True}
        for number in range(2):
            await asyncio.sleep(0)
            yield Request(self.url(f"/echo/{number}"))


class StartRaises(Case):
    """`start()` that raises: what it gave before is done."""

    name = "start_raises"
    apart = ("finish_reason",)

    async def start(self) -> Any:
        yield Request(self.url("/echo/1"))
        raise ValueError("the start failed")


class StartUrls(Case):
    """`start_urls`."""

    name = "start_urls"
    paths = ("/echo/1", "/echo/2", "/hops/2")
    gives = 3


class StartTwice(Case):
    """The same start URL twice is asked twice."""

    name = "start_urls_twice"
    paths = ("/echo/1", "/echo/1#2")
    gives = 2

    def parse(self, response: Any) -> Any:
        yield {"url": response.request.url}


@dataclasses.dataclass
class Plain:
    name: str
    tags: list[str] = dataclasses.field(default_factory=list)


@attrs.define
class Attrs:
    name: str
    inner: Any = None


class Declared(scrapy.Item):
    name = scrapy.Field()
    price = scrapy.Field(serializer=str)


class ItemKinds(Case):
    """Items of every kind: dictionaries, Scrapy's, dataclasses, attrs, and one in another."""

    name = "item_kinds"
    paths = ("/echo/",)
    gives = 5

    def parse(self, _response: Any) -> Any:
        yield {"name": "dictionary", "nested": {"list": [1, None, True, 2.5]}}
        yield Declared(name="declared", price=1)
        yield Plain("plain", ["a"])
        yield Attrs("attrs", inner={"x": "ü"})
        yield Attrs("nested", inner=[Plain("inner"), Declared(name="inner")])


class Logs(Case):
    """`self.logger` and `self.log`."""

    name = "logging"
    paths = ("/echo/",)

    def parse(self, response: Any) -> Any:
        self.logger.warning("a warning about %s", response.url)
        self.logger.info("for information")
        self.log("an old word")
        yield {"logged": True}


class Stats(Case):
    """Stats of the spider's own."""

    name = "stats"
    paths = ("/echo/1", "/echo/2", "/echo/3")
    gives = 3

    def parse(self, response: Any) -> Any:
        stats: Any = self.crawler.stats
        number = int(response.url[-1])
        stats.inc_value("case/pages")
        stats.inc_value("case/sum", number, start=10)
        stats.max_value("case/most", number)
        stats.min_value("case/least", number)
        yield {"number": number}

    def closed(self, reason: str) -> None:
        stats: Any = self.crawler.stats
        stats.set_value("case/closed", reason)
