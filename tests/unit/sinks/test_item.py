from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import OrderedDict, UserDict, deque
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Any, NamedTuple
from uuid import UUID

import attrs
import pydantic
import pytest
import scrapy

from skitter.errors import UnknownSink, UnstorableItem
from skitter.sinks import fields_of, identify, open_sink, read_items
from skitter.sinks.json_text import to_json


class Colour(Enum):
    RED = "red"


class Word(StrEnum):
    A = "a"


class Number(IntEnum):
    ONE = 1


class Pair(NamedTuple):
    left: int
    right: int


class Offer(scrapy.Item):
    price = scrapy.Field()
    seller = scrapy.Field()


@dataclass
class Seller:
    name: str


@attrs.define
class Shop:
    name: str


class Model(pydantic.BaseModel):
    name: str


CONVERTED = [
    (datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=UTC), "2026-01-02T03:04:05.000006+00:00"),
    (date(2026, 1, 2), "2026-01-02"),
    (time(3, 4), "03:04:00"),
    (timedelta(minutes=1, milliseconds=500), 60.5),
    (Decimal("12.30"), "12.30"),
    (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
    (PurePosixPath("a/b"), "a/b"),
    (Colour.RED, "red"),
    (Word.A, "a"),
    (Number.ONE, 1),
    ("Ünï".encode(), "Ünï"),
    (b"\xff\x00", "data:;base64,/wA="),
    (bytearray(b"x"), "x"),
    ({3, 1, 2}, [1, 2, 3]),
    (frozenset({"b", "a"}), ["a", "b"]),
    ({1, "a", (2, 3)}, ["a", 1, [2, 3]]),
    ((1, 2), [1, 2]),
    (Pair(1, 2), [1, 2]),
    (deque([1]), [1]),
    (OrderedDict(a=1), {"a": 1}),
    (UserDict(a=1), {"a": 1}),
    (MappingProxyType({"a": 1}), {"a": 1}),
    (Offer(price=Decimal(1), seller=Seller("s")), {"price": "1", "seller": {"name": "s"}}),
    (Shop("s"), {"name": "s"}),
    (Model(name="m"), {"name": "m"}),
    ({1: {None: True}}, {"1": {"null": True}}),
    (2**100, 2**100),
    ("\ud800", "\ud800"),
]


@pytest.mark.parametrize(("value", "expected"), CONVERTED, ids=lambda value: type(value).__name__)
def test_values_are_converted(value: Any, expected: Any) -> None:
    assert json.loads(to_json({"field": [value]}, url="u")) == {"field": [expected]}


HOLDS_ITSELF: dict[str, Any] = {}
HOLDS_ITSELF["me"] = HOLDS_ITSELF


@pytest.mark.parametrize(
    ("data", "field"),
    [
        ({"a": object()}, "a"),
        ({"a": 1, "b": {"c": [0, {"d": lambda: 0}]}}, "b.c.1.d"),
        ({"a": float("nan")}, "a"),
        ({"a": [float("inf")]}, "a.0"),
        ({"a": {(1, 2): 3}}, "a.(1, 2)"),
        ({"a": (n for n in range(3))}, "a"),
        ({"a": {object()}}, "a"),
        ({"a": Offer(seller=Seller(name=object()))}, "a.seller.name"),  # type: ignore[arg-type]
        ({"a": 10**5000}, "a"),
        (HOLDS_ITSELF, "me.me.me.me.me.me.me.me.me.me.me.me.me.me.me.me.me.me.me.me.…"),
    ],
)
@pytest.mark.parametrize("sort_keys", [False, True])
def test_what_cannot_be_stored_is_named(data: Any, field: str, *, sort_keys: bool) -> None:
    with pytest.raises(UnstorableItem) as caught:
        to_json(data, url="https://x.example/", sort_keys=sort_keys)
    assert caught.value.field == field
    assert "https://x.example/" in str(caught.value)


def test_an_identity_is_job_url_content_and_occurrence() -> None:
    base = identify({"a": 1}, job="j", url="u", occurrence=0)
    assert base == identify({"a": 1}, job="j", url="u", occurrence=0)
    others = {
        identify({"a": 2}, job="j", url="u", occurrence=0),
        identify({"a": 1}, job="k", url="u", occurrence=0),
        identify({"a": 1}, job="j", url="v", occurrence=0),
        identify({"a": 1}, job="j", url="u", occurrence=1),
        identify({"a": 1}, job="ju", url="", occurrence=0),
        base,
    }
    assert len(others) == 6


def test_the_order_of_fields_is_no_part_of_an_identity() -> None:
    one, other = {"a": 1, "b": {1: 2, "x": 3}}, {"b": {"x": 3, 1: 2}, "a": 1}
    assert _identity(one) == _identity(other)


def test_kinds_of_items_with_equal_fields_have_equal_identities() -> None:
    assert _identity({"name": "s"}) == _identity(Seller("s")) == _identity(fields_of_seller())


def test_a_set_has_the_same_identity_in_every_process() -> None:
    program = (
        "from skitter.sinks import identify\n"
        "print(identify({'tags': set('abcdefgh')}, job='j', url='u', occurrence=0))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(outputs) == 1


def test_what_is_no_item_has_no_fields() -> None:
    assert fields_of(Offer(price=1), url="u") == {"price": 1}
    with pytest.raises(UnstorableItem, match="type str, which is no kind of item"):
        fields_of("text", url="u")


@pytest.mark.parametrize("url", ["mongo://u:pw@h/db", "items.db", "", "sqlite://items.db"])
def test_an_unknown_scheme_is_told_what_is_known(url: str) -> None:
    with pytest.raises(UnknownSink, match="sqlite:") as caught:
        open_sink(url)
    assert "pw" not in str(caught.value)


def test_reading_from_an_unknown_scheme() -> None:
    with pytest.raises(UnknownSink, match="'mongo' is not known"):
        read_items("mongo://h/db")


def fields_of_seller() -> dict[str, Any]:
    return fields_of(Seller("s"), url="u")


def _identity(data: Any) -> str:
    return identify(data, job="j", url="u", occurrence=0)
