"""Scrapy's requests survive the trip, and what cannot is named."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import Flag, IntEnum
from typing import Any, NamedTuple
from uuid import UUID

import ormsgpack
import pytest
import scrapy
from parsel import Selector
from scrapy.http import FormRequest, JsonRequest

from skitter.engine.requests import EXTRAS, RequestCodec, mark_of
from skitter.errors import BadRequest, UnrunnableRequest, UnstorableRequest
from skitter.frontier.request import pack, unpack
from skitter.frontier.urls import parse

pytestmark = pytest.mark.unit


class Shop(scrapy.Spider):
    name = "shop"

    def parse(self, response: Any) -> None: ...

    def parse_item(self, response: Any, **kwargs: Any) -> None: ...

    def failed(self, failure: Any) -> None: ...

    def __hidden(self, response: Any) -> None: ...

    def hidden_request(self) -> scrapy.Request:
        return scrapy.Request("http://a.lab/", callback=self.__hidden)


class Product(scrapy.Item):
    name = scrapy.Field()
    parts = scrapy.Field()


@dataclass
class Offer:
    price: Decimal
    tags: list[str] = field(default_factory=list)
    seen: int = field(default=0, init=False)


class Colour(IntEnum):
    RED = 1


class Rights(Flag):
    READ = 1
    WRITE = 2


class Pair(NamedTuple):
    left: int
    right: int


class Tagged(scrapy.Request):
    attributes = (*scrapy.Request.attributes, "tag")

    def __init__(self, *args: Any, tag: str = "", **kwargs: Any) -> None:
        self.tag = tag
        super().__init__(*args, **kwargs)


class Numbered(scrapy.Request):
    """Takes other arguments than those of all requests, and keeps more than it names."""

    def __init__(self, number: int, **kwargs: Any) -> None:
        self.number = number
        self.wait_s = 1.5
        super().__init__(f"http://a.lab/p/{number}", headers={"X-Number": "1"}, **kwargs)


class Slotted(scrapy.Request):
    __slots__ = ("__hidden", "open", "unset")

    def __init__(self, *args: Any, hidden: int = 0, **kwargs: Any) -> None:
        self.__hidden = hidden
        self.open = hidden + 1
        super().__init__(*args, **kwargs)

    @property
    def hidden(self) -> int:
        return self.__hidden


@pytest.fixture
def spider() -> Shop:
    return Shop()


@pytest.fixture
def codec(spider: Shop) -> RequestCodec:
    return RequestCodec(spider)


def trip(codec: RequestCodec, request: scrapy.Request) -> scrapy.Request:
    """Through the frontier's own wire format."""
    stored = codec.store(request, "j")
    url, host = parse(stored.url)
    entry = pack(stored, url=url, host=host)
    return codec.restore(unpack(entry, job="j", host=host, priority=stored.priority))


def test_a_plain_link_is_its_url_depth_and_callback(codec: RequestCodec, spider: Shop) -> None:
    request = scrapy.Request("http://a.lab/p/1", callback=spider.parse_item, meta={"depth": 3})
    stored = codec.store(request, "j")
    assert (stored.url, stored.depth, stored.callback) == ("http://a.lab/p/1", 3, "parse_item")
    assert not stored.meta
    back = trip(codec, request)
    assert back.callback == spider.parse_item
    assert back.meta == {"depth": 3}


def test_every_field_survives(codec: RequestCodec, spider: Shop) -> None:
    request = scrapy.Request(
        "http://a.lab/form",
        callback=spider.parse_item,
        errback=spider.failed,
        method="POST",
        headers={"X-Two": ["1", "2"], "Accept": "text/html"},
        body="q=ä".encode("latin-1"),
        cookies=[{"name": "sid", "value": "1", "path": "/"}],
        meta={"page": 2, "cookiejar": 7},
        encoding="latin-1",
        priority=-5,
        dont_filter=True,
        flags=["cached"],
        cb_kwargs={"shop": "x"},
    )
    back = trip(codec, request)
    assert back.to_dict(spider=spider) == request.to_dict(spider=spider)


@pytest.mark.parametrize(
    "value",
    [
        None,
        1.5,
        -(2**70),
        b"\xff",
        "ä😀",
        (1, ("a",)),
        {1, 2},
        frozenset({"a"}),
        {1: "a", (2, 3): "b"},
        {"~": 1},
        datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
        date(2026, 1, 2),
        Decimal("1.10"),
        [{"deep": [(1,)]}],
        Product(name="x", parts=[Product(name="y")]),
        Offer(Decimal("9.99"), ["new"]),
        Colour.RED,
        Rights.READ,
        Pair(1, (2,)),  # type: ignore[arg-type]
        time(1, 2, 3, tzinfo=UTC),
        timedelta(days=-1, microseconds=7),
        UUID(int=5),
    ],
)
def test_values_keep_their_kind(codec: RequestCodec, value: Any) -> None:
    back = trip(codec, scrapy.Request("http://a.lab/", meta={"v": value}, cb_kwargs={"v": value}))
    assert (back.meta["v"], type(back.meta["v"])) == (value, type(value))
    assert (back.cb_kwargs["v"], type(back.cb_kwargs["v"])) == (value, type(value))


def test_a_url_is_asked_as_it_was_written(codec: RequestCodec) -> None:
    request = scrapy.Request("http://a.lab/s?b=2&a=1#top")
    assert trip(codec, request).url == "http://a.lab/s?b=2&a=1#top"


def test_what_scrapy_sets_while_it_runs_is_left_out(codec: RequestCodec) -> None:
    meta = {"download_latency": 0.1, "download_slot": "a.lab", "depth": 1, "kept": 1}
    stored = codec.store(scrapy.Request("http://a.lab/", meta=meta), "j")
    assert stored.meta == {"kept": 1}


@pytest.mark.parametrize("kind", [FormRequest, JsonRequest])
def test_request_classes_are_kept(codec: RequestCodec, kind: type[scrapy.Request]) -> None:
    argument: dict[str, Any] = {"formdata": {"a": "1"}} if kind is FormRequest else {"data": [1]}
    request = kind("http://a.lab/", method="POST", **argument)
    back = trip(codec, request)
    assert (type(back), back.body, back.headers) == (kind, request.body, request.headers)


def test_a_class_of_ones_own_keeps_its_fields(codec: RequestCodec) -> None:
    back = trip(codec, Tagged("http://a.lab/", tag="t"))
    assert isinstance(back, Tagged)
    assert back.tag == "t"


def test_all_that_a_class_of_ones_own_keeps_survives(codec: RequestCodec) -> None:
    request = Numbered(7)
    del request.headers["X-Number"]
    back: Any = trip(codec, request)
    assert (back.url, back.number, back.wait_s) == ("http://a.lab/p/7", 7, 1.5)
    assert not back.headers
    slotted: Any = trip(codec, Slotted("http://a.lab/", hidden=2))
    assert (slotted.hidden, slotted.open, hasattr(slotted, "unset")) == (2, 3, False)


def test_headers_that_a_class_would_add_again_stay_away(codec: RequestCodec) -> None:
    request = JsonRequest("http://a.lab/", data=[1], dumps_kwargs={"indent": 1})
    del request.headers["Content-Type"]
    back = trip(codec, request)
    assert isinstance(back, JsonRequest)
    assert b"Content-Type" not in back.headers
    assert back.dumps_kwargs == request.dumps_kwargs


def test_what_a_class_of_ones_own_keeps_is_named_if_it_cannot_be_stored(
    codec: RequestCodec,
) -> None:
    request = Numbered(7)
    request.number = object()  # type: ignore[assignment]
    with pytest.raises(UnstorableRequest, match="number"):
        codec.store(request, "j")


def test_a_private_callback_is_found(codec: RequestCodec, spider: Shop) -> None:
    request = spider.hidden_request()
    assert trip(codec, request).callback == request.callback


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"callback": lambda _: None}, "callback"),
        ({"errback": lambda _: None}, "errback"),
        ({"callback": Shop().parse}, "callback"),
        ({"meta": {"file": object()}}, "meta"),
        ({"meta": {"deep": [{"x": {1, object}}]}}, "meta"),
        ({"cb_kwargs": {"f": print}}, "cb_kwargs"),
        ({"meta": {"s": "\ud800"}}, "meta"),
        ({"meta": {"e": Rights.READ | Rights.WRITE}}, "meta"),
        ({"meta": {1: 2}}, "meta"),
    ],
)
def test_what_cannot_be_stored_is_named(
    codec: RequestCodec, fields: dict[str, Any], named: str
) -> None:
    with pytest.raises(UnstorableRequest) as caught:
        codec.store(scrapy.Request("http://a.lab/x", **fields), "j")
    assert caught.value.field == named
    assert "shop" in str(caught.value)
    assert "http://a.lab/x" in str(caught.value)


def test_a_container_that_holds_itself_is_named(codec: RequestCodec) -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(UnstorableRequest, match="without end"):
        codec.store(scrapy.Request("http://a.lab/", meta={"v": endless}), "j")


def test_a_url_that_is_not_to_be_fetched_is_refused(codec: RequestCodec) -> None:
    with pytest.raises(BadRequest, match="not http or https"):
        codec.store(scrapy.Request("ftp://a.lab/"), "j")


@pytest.mark.parametrize(
    "change", [{"callback": "gone"}, {"meta": {EXTRAS: {"k": "no.Such"}}}, {"url": "x"}]
)
def test_what_cannot_be_run_says_so(codec: RequestCodec, change: dict[str, Any]) -> None:
    stored = codec.store(scrapy.Request("http://a.lab/"), "j")
    for name, value in change.items():
        setattr(stored, name, value)
    with pytest.raises(UnrunnableRequest, match="shop"):
        codec.restore(stored)


def test_an_item_class_is_not_imported(codec: RequestCodec) -> None:
    stored = codec.store(scrapy.Request("http://a.lab/"), "j")
    stored.meta = {"v": {"~": ["item", ["antigravity", "Item", {}]]}}
    with pytest.raises(UnrunnableRequest, match="no item class"):
        codec.restore(stored)
    stored.meta = {"v": {"~": ["item", ["os", "system", {}]]}}
    with pytest.raises(UnrunnableRequest, match="no item class"):
        codec.restore(stored)


def test_another_spider_is_named(codec: RequestCodec) -> None:
    assert codec.other_spider(scrapy.Request("http://a.lab/")) == ""
    for key in ("skitter_spider", "spiderid"):
        request = scrapy.Request("http://a.lab/", meta={key: "news"})
        assert codec.other_spider(request) == "news"
        assert not codec.store(request, "j").meta
        assert codec.other_spider(scrapy.Request("http://a.lab/", meta={key: "shop"})) == ""


def test_the_mark_of_the_cookie_jar_travels_apart(codec: RequestCodec) -> None:
    stored = codec.store(scrapy.Request("http://a.lab/"), "j", mark="m1")
    assert mark_of(stored) == "m1"
    assert not codec.restore(stored).meta
    assert mark_of(codec.store(scrapy.Request("http://a.lab/"), "j")) == ""


def test_stored_values_are_msgpack(codec: RequestCodec) -> None:
    request = scrapy.Request("http://a.lab/", meta={"v": {(1,): Offer(Decimal(1))}})
    assert ormsgpack.packb(codec.store(request, "j").meta)


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (Selector("<a>x</a>").xpath("//a/text()").get(), "x"),
        (Selector("<a>x</a>").root.xpath("string()"), "x"),
        (OrderedDict(a=1), {"a": 1}),
        (defaultdict(list, a=[1]), {"a": [1]}),
    ],
)
def test_what_stands_for_a_plain_value_becomes_one(
    codec: RequestCodec, value: Any, plain: Any
) -> None:
    back = trip(codec, scrapy.Request("http://a.lab/", meta={"v": value}))
    assert back.meta["v"] == plain
    assert type(back.meta["v"]) is type(plain)
