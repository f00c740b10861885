"""What classes of items say of their fields, and the names of what is made of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, ClassVar, Literal

import attrs
import pydantic
import pytest
import scrapy

from skitter.sinks import Item, Shape, key_of, shape_of
from skitter.sinks.rows import row_of
from skitter.sinks.shape import type_of
from skitter.sinks.views import merged, view_name
from skitter.spiders.items import Product, Quote

pytestmark = pytest.mark.unit


class Size(Enum):
    SMALL = "s"


@dataclass
class Book:
    title: str
    price: Decimal | None
    tags: list[str]
    tracked_fields: ClassVar = ("price",)


@attrs.define
class Shelf:
    number: int
    _hidden: str = ""


class Offer(pydantic.BaseModel):
    price: float
    until: pydantic.AwareDatetime | None = None


class Page(scrapy.Item):
    title = scrapy.Field()
    bytes_read = scrapy.Field(serializer=int)
    Title = scrapy.Field(type=int)


@dataclass
class Odd:
    unknown: Unheard  # type: ignore[name-defined]  # noqa: F821


@pytest.mark.parametrize(
    ("kind", "columns"),
    [
        (Book, {"title": "text", "price": "numeric", "tags": "json"}),
        (Shelf, {"number": "integer"}),
        (Offer, {"price": "numeric", "until": "timestamptz"}),
        (Odd, {"unknown": "text"}),
    ],
)
def test_fields_of_declared_classes(kind: type, columns: dict[str, str]) -> None:
    shape = shape_of(kind)
    assert shape is not None
    assert dict(shape.columns) == columns


def test_fields_of_scrapy_items() -> None:
    shape = shape_of(Page)
    assert shape is not None
    assert shape.columns["bytes_read"] == "integer"
    assert len(shape.columns) == 2  # title and Title are one to a database


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        (bool, "boolean"),
        (int | Decimal | None, "numeric"),
        (int | str, "text"),
        (Annotated[int, "ge 0"], "integer"),
        (Literal["a", "b"], "text"),
        (Size, "text"),
        (date, "text"),
        (datetime, "timestamptz"),
        (dict[str, int], "json"),
        (list[Book], "json"),
        (Book, "json"),
        (object, "text"),
        (Any, "text"),
        (None, "text"),
        ("Later", "text"),
    ],
)
def test_types_of_columns(told: Any, expected: str) -> None:
    assert type_of(told) == expected


def test_what_says_nothing_has_no_shape() -> None:
    assert shape_of(dict) is None
    assert shape_of(dict, ("price",)) is not None
    book = shape_of(Book, ("title",))
    assert book is not None
    assert book.tracked == ("price",)
    for kind in (Product, Quote):
        shipped = shape_of(kind)
        assert shipped is not None
        assert {"price", "currency"} <= set(shipped.tracked)
        assert shipped.columns["price"] == "numeric"


def test_only_tracked_fields_with_a_value_are_compared() -> None:
    item = Item("i", "j", "s", "u", "Book", {"price": Decimal("1.50"), "stock": None, "x": 1})
    assert row_of(item).tracked is None
    item.shape = Shape("Book", {}, ("stock", "price", "none"))
    assert row_of(item).tracked == '{"price":"1.50"}'


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("Product", "products"),
        ("JobOffer", "job_offers"),
        ("HTTPPage", "http_pages"),
        ("Category", "categories"),
        ("Day", "days"),
        ("Box", "boxes"),
        ("review", "reviews"),
        ("a'b", "a_bs"),
    ],
)
def test_names_of_views(kind: str, name: str) -> None:
    assert view_name(kind) == name


def test_columns_only_grow_and_a_changed_type_is_json_for_good() -> None:
    known = {"name": "text", "Price": "numeric", "old": "text"}
    once = merged(known, Shape("P", {"price": "text", "new": "integer", "name": "text"}))
    assert once == {"name": "text", "Price": "json", "old": "text", "new": "integer"}
    assert merged(once, Shape("P", {"price": "numeric"})) == once


def test_fields_may_be_a_key() -> None:
    assert key_of({"isbn": 1, "x": 2}, ("isbn",)) == ("1",)
    assert key_of({"isbn": None}, ("isbn",)) == key_of({"x": 1}, ("isbn",)) == ()
    assert key_of(Book("t", None, []), ("title",)) == ("t",)
    assert key_of({"isbn": 1}) == key_of("text", ("isbn",)) == ()
