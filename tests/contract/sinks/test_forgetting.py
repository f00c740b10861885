"""Items that were not seen for long go, with their history, in every sink that can forget."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING

import psycopg
import pytest
from psycopg import sql

from skitter.errors import SinkError
from skitter.sinks import Shape, read_history, read_items, read_stored
from skitter.sinks.forgetting import can_forget, forget_items
from skitter.sinks.paging import Beginning
from skitter.sinks.postgres_rows import named, parse_url
from tests.contract.sinks.items import make_item
from tests.wait import wait_until_async

if TYPE_CHECKING:
    from skitter.sinks import Item, Sink

forgetful = pytest.mark.parametrize("sink_url", ["sqlite", "postgres", "mongo"], indirect=True)
PRICED = Shape("Book", {"price": "numeric"}, tracked=("price",))


def book(identity: str, price: int = 1) -> Item:
    made = make_item(identity, price=price)
    made.shape = PRICED
    return made


async def later() -> datetime:
    """A moment after all that was stored, and before all that will be."""
    moment = datetime.now(UTC) + timedelta(milliseconds=2)
    await wait_until_async(
        lambda: datetime.now(UTC) > moment + timedelta(milliseconds=2), what="the clock goes on"
    )
    return moment


async def forget(
    url: str, before: datetime, *, after: str = "", at_once: int = 1000
) -> tuple[int, str]:
    return await asyncio.to_thread(forget_items, url, before, Beginning(after, at_once))


def left(url: str) -> list[str]:
    return [item.id for item in read_items(url)]


@forgetful
async def test_what_was_last_seen_before_goes_and_what_came_again_stays(
    sink: Sink, sink_url: str
) -> None:
    await sink.put([book(name) for name in "abc"])
    moment = await later()
    await sink.put([book("b"), book("d")])
    assert await forget(sink_url, moment) == (2, "")
    assert left(sink_url) == ["b", "d"]
    assert await forget(sink_url, moment) == (0, "")


@forgetful
async def test_its_history_goes_with_an_item(sink: Sink, sink_url: str) -> None:
    for price in (1, 2, 3):
        await sink.put([book("a", price), book("b", price)])
    moment = await later()
    await sink.put([book("b", 4)])
    assert await forget(sink_url, moment) == (1, "")
    assert {change.item for change in read_history(sink_url)} == {"b"}
    assert len(list(read_history(sink_url))) == 3


@forgetful
async def test_a_part_is_no_larger_than_asked_for_and_the_next_goes_on(
    sink: Sink, sink_url: str
) -> None:
    await sink.put([book(f"old{n}") for n in range(5)])
    await sink.put([book(f"new{n}") for n in range(4)])
    moment = await later()
    await sink.put([book(f"new{n}") for n in range(4)])
    gone, place, parts = 0, "", 0
    while not parts or place:
        number, place = await forget(sink_url, moment, after=place, at_once=2)
        assert number <= 2
        gone, parts = gone + number, parts + 1
    assert (gone, parts) == (5, 5)
    assert sorted(left(sink_url)) == [f"new{n}" for n in range(4)]


@forgetful
async def test_one_that_nobody_has_written_to_has_nothing(sink_url: str) -> None:
    assert await forget(sink_url, datetime.now(UTC)) == (0, "")


@forgetful
async def test_a_forgotten_item_may_come_again(sink: Sink, sink_url: str) -> None:
    await sink.put([book("a", 1)])
    await forget(sink_url, await later())
    await sink.put([book("a", 2)])
    [found] = read_stored(sink_url)
    assert found.item.data["price"] == 2
    assert list(read_history(sink_url)) == []


@forgetful
async def test_a_moment_may_be_told_in_any_zone(sink: Sink, sink_url: str) -> None:
    await sink.put([book("a")])
    east = (await later()).astimezone(timezone(timedelta(hours=9)))
    assert await forget(sink_url, east - timedelta(hours=1)) == (0, "")
    assert await forget(sink_url, east) == (1, "")


@pytest.mark.parametrize("sink_url", ["postgres"], indirect=True)
async def test_an_item_that_another_writes_just_now_is_passed_over(
    sink: Sink, sink_url: str
) -> None:
    await sink.put([book("a"), book("b")])
    moment = await later()
    address, table = parse_url(sink_url)
    async with await psycopg.AsyncConnection.connect(address) as other:
        locked = sql.SQL("SELECT id FROM {} WHERE id = 'a' FOR UPDATE").format(named(table))
        await other.execute(locked)
        assert await forget(sink_url, moment) == (1, "")
        assert left(sink_url) == ["a"]
        await other.rollback()
    assert await forget(sink_url, moment) == (1, "")


@pytest.mark.parametrize("url", ["jsonl:data", "csv:data", "redis://h/0?stream=s", "nonsense"])
def test_files_and_feeds_are_kept(url: str) -> None:
    assert not can_forget(url)


async def test_a_server_that_is_away_is_told() -> None:
    with pytest.raises(SinkError):
        await forget("postgresql://nobody@127.0.0.1:1/x", datetime.now(UTC))
