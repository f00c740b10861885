"""Typed columns in databases: what a class of items declares, by a view for each kind."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import psycopg
import pytest
import scrapy
from structlog.testing import capture_logs

from skitter.sinks import Item, Shape, open_sink, shape_of
from skitter.spiders.items import Product
from tests.contract.sinks.items import ids, make_item
from tests.contract.sinks.writers import writer

Ask = Callable[[str], list[tuple[Any, ...]]]
SQL = pytest.mark.parametrize("sink_url", ["sqlite", "postgres"], indirect=True)
pytestmark = SQL


@dataclass
class Offer:
    name: str
    price: Decimal | None = None
    pieces: int = 0
    sale: bool = False
    tags: list[str] | None = None
    ends: datetime | None = None


def offer(identity: str, shape: Shape | None = None, **data: Any) -> Item:
    made = make_item(identity, kind="Offer", **data)
    made.shape = shape or shape_of(Offer)
    return made


@pytest.fixture
def ask(sink_url: str) -> Ask:
    """What a query gives; the views of the sink's table are named without its name before."""
    address, _, table = sink_url.partition("?table=")

    def rows(query: str) -> list[tuple[Any, ...]]:
        if table:
            with psycopg.connect(address) as connection:
                return list(connection.execute(query.replace("FROM ", f"FROM {table}_").encode()))
        with closing(sqlite3.connect(sink_url.removeprefix("sqlite:"))) as database:
            return list(database.execute(query))

    return rows


async def put(sink_url: str, *items: Item) -> None:
    sink = open_sink(sink_url)
    await sink.open()
    await sink.put(items)
    await sink.close()


async def test_fields_are_columns_with_their_types(sink_url: str, ask: Ask) -> None:
    ends = datetime(2026, 11, 16, 8, tzinfo=UTC)
    whole: dict[str, Any] = {
        "name": "chair",
        "price": Decimal("1299.50"),
        "pieces": 3,
        "sale": True,
    }
    await put(sink_url, offer("a", **whole, tags=["x"], ends=ends, extra={"y": 1}), offer("b"))
    query = "SELECT name, price, pieces, sale, ends, tags, _rest, _url, _job FROM offers"
    chair, empty = ask(f"{query} ORDER BY _id")
    name, price, pieces, sale, when, tags, rest, url, job = chair
    assert (name, pieces, bool(sale), url, job) == (
        "chair",
        3,
        True,
        "https://books.example/a",
        "books",
    )
    assert price == Decimal("1299.50")
    assert when in (ends, ends.isoformat())
    assert [tags, rest] in ([["x"], {"extra": {"y": 1}}], ['["x"]', '{"extra":{"y":1}}'])
    assert empty[:6] == (None,) * 6
    assert ask("SELECT sum(price) FROM offers WHERE price > 1000") == [(price,)]


async def test_what_does_not_fit_its_column_fails_no_query(sink_url: str, ask: Ask) -> None:
    await put(
        sink_url,
        offer("a", price="on demand", pieces="many", sale="yes", ends="soon", name=5),
        offer("b", price="12.5", pieces=10**30, ends="2026-99-99"),
    )
    rows = ask("SELECT name, price, pieces, sale, ends FROM offers ORDER BY _id")
    assert len(rows) == 2
    assert rows[1][1] == Decimal("12.5")
    assert ask("SELECT count(*) FROM offers WHERE price < 100") == [(1,)]


async def test_a_new_field_is_a_new_column_for_old_items_too(sink_url: str, ask: Ask) -> None:
    await put(sink_url, offer("a", Shape("Offer", {"name": "text"}), name="old", colour="red"))
    more = Shape("Offer", {"colour": "text", "name": "text"})
    await put(sink_url, offer("b", more, name="new", colour="blue"))
    assert ask("SELECT name, colour FROM offers ORDER BY _id") == [("old", "red"), ("new", "blue")]
    await put(sink_url, offer("c", Shape("Offer", {"name": "text"})))
    assert len(ask("SELECT colour FROM offers")) == 3


async def test_a_changed_type_becomes_json_and_is_told(sink_url: str, ask: Ask) -> None:
    await put(sink_url, offer("a", Shape("Offer", {"price": "numeric"}), price=5))
    with capture_logs() as logs:
        await put(sink_url, offer("b", Shape("Offer", {"price": "text"}), price="five"))
        await put(sink_url, offer("c", Shape("Offer", {"price": "numeric"}), price=7))
    told = [line for line in logs if line["log_level"] == "warning"]
    assert [(line["field"], line["was"]) for line in told] == [("price", "numeric")]
    found = [value for (value,) in ask("SELECT price FROM offers ORDER BY _id")]
    assert [json.loads(value) if isinstance(value, str) and "five" not in value else value
            for value in found][::2] == [5, 7]  # fmt: skip
    assert "five" in str(found[1])


async def test_a_name_that_is_taken_is_left_alone(sink_url: str, ask: Ask) -> None:
    with capture_logs() as logs:
        await put(sink_url, offer("a", Shape("History", {"name": "text"}), name="x"))
        await put(sink_url, offer("a", Shape("Histori", {"name": "text"}), name="y"))
        await put(sink_url, offer("b", Shape("Item_column", {"name": "text"}), name="x"))
    assert any("is taken" in str(line.get("reason")) for line in logs)
    assert ids(sink_url) == ["a", "b"]
    assert ask("SELECT count(*) FROM item_columns WHERE kind = 'Item_column'") == [(0,)]


async def test_scrapy_items_and_shipped_ones_have_columns(sink_url: str, ask: Ask) -> None:
    class Book(scrapy.Item):
        title = scrapy.Field()
        pages = scrapy.Field(type=int)

    book = make_item("a", kind="Book", title="Dune", pages=412)
    book.shape = shape_of(Book)
    product = make_item("b", kind="Product", name="Chair", price="12.500", url="https://s.example/")
    product.shape = shape_of(Product)
    await put(sink_url, book, product)
    assert ask("SELECT title, pages FROM books") == [("Dune", 412)]
    assert ask("SELECT name, price FROM products") == [("Chair", Decimal("12.500"))]


def test_processes_that_declare_at_the_same_time(sink_url: str, ask: Ask) -> None:
    with ExitStack() as stack:
        started = [
            stack.enter_context(writer(sink_url, name, puts=3, size=1, module="column_writer"))
            for name in ("w0", "w1", "w2")
        ]
        for process in started:
            assert process.stdout
            assert process.stdout.readline() == "ready\n"
        for process in started:
            process.stdin.write("\n")  # type: ignore[union-attr]
        for process in started:
            process.communicate(timeout=90)
            assert process.returncode == 0
    names = [f"of_{name}_{n}" for name in ("w0", "w1", "w2") for n in range(3)]
    assert len(ask(f"SELECT shared, {', '.join(names)} FROM offers")) == 9


async def test_many_kinds_in_one_put(sink_url: str, ask: Ask) -> None:
    kinds = [Shape(f"Kind{n}", {"n": "integer"}) for n in range(12)]
    items = [make_item(str(n), kind=shape.kind, n=n) for n, shape in enumerate(kinds)]
    for item, shape in zip(items, kinds, strict=True):
        item.shape = shape
    sink = open_sink(sink_url)
    await sink.open()
    await asyncio.gather(*(sink.put([item]) for item in items))
    await sink.close()
    assert [ask(f"SELECT n FROM kind{n}s") for n in range(12)] == [[(n,)] for n in range(12)]
