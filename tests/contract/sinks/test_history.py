"""Identity over runs, and what is kept of changes: in every sink that keeps a history."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING, Any

import pytest

from skitter.errors import NoHistory
from skitter.sinks import Item, Shape, Wanted, open_sink, read_history, read_page, read_stored
from skitter.sinks.rows import clock_text, now_text
from tests.contract.sinks.conftest import SINKS
from tests.contract.sinks.items import ids, make_item
from tests.contract.sinks.writers import writer
from tests.wait import wait_until_async

if TYPE_CHECKING:
    from pathlib import Path

    from skitter.sinks import Change, Sink

WITH_HISTORY = [name for name in SINKS if name not in ("stream", "list")]
PRICED = Shape("Book", {"title": "text", "price": "numeric"}, tracked=("price", "stock"))
kept = pytest.mark.parametrize("sink_url", WITH_HISTORY, indirect=True)


def book(identity: str, job: str = "monday", **data: Any) -> Item:
    made = make_item(identity, job=job, **data)
    made.shape = PRICED
    return made


def changes(url: str, **only: str) -> list[Change]:
    return list(read_history(url, **only))


async def later() -> str:
    """A time after all that was stored, and before all that will be."""
    now = now_text()
    await wait_until_async(lambda: now_text() > now, what="the clock goes on")
    return now_text()


async def test_a_later_run_finds_the_same_item(sink: Sink, sink_url: str) -> None:
    await sink.put([book("a", job="monday", price=1)])
    await later()
    await sink.put([book("a", job="tuesday", price=1)])
    (found,) = read_stored(sink_url)
    assert (found.item.job, found.first_job) == ("tuesday", "monday")
    assert found.first_seen == found.changed_at < found.last_seen


async def test_where_an_item_came_from_is_stored_with_it(sink: Sink, sink_url: str) -> None:
    item = book("a")
    item.fetched_at, item.parser = clock_text(time.monotonic()), "skitter/1 books/2"
    await sink.put([item])
    (found,) = read_stored(sink_url)
    assert found.item == item
    assert found.first_seen[:10] <= found.item.fetched_at[:10]


@kept
async def test_each_change_of_tracked_fields_is_kept(sink: Sink, sink_url: str) -> None:
    await sink.put([book("a", price="1.00", stock=3), book("b", price="5.00")])
    await sink.put([book("a", "tuesday", price="1.50", stock=3), book("b", price="5.00")])
    await sink.put([book("a", "tuesday", price="1.50", stock=0)])
    first, second = changes(sink_url, item="a")
    assert first.before == {"price": "1.00", "stock": 3}
    assert first.after == second.before == {"price": "1.50", "stock": 3}
    assert second.after == {"price": "1.50", "stock": 0}
    assert first.job == "tuesday"
    assert first.at <= second.at
    assert changes(sink_url, item="b") == changes(sink_url, job="monday") == []


@kept
async def test_a_replay_adds_nothing(sink: Sink, sink_url: str) -> None:
    await sink.put([book("a", price=1)])
    await sink.put([book("a", price=2, title="old")])
    (before,) = read_stored(sink_url)
    await later()
    for _ in range(3):
        await sink.put([book("a", price=2, title="new")])
    assert len(changes(sink_url)) == 1
    (found,) = read_stored(sink_url)
    assert (found.changed_at, found.item.data["title"]) == (before.changed_at, "new")


@kept
async def test_what_json_of_a_database_cannot_hold_has_a_history(sink: Sink, sink_url: str) -> None:
    await sink.put([book("a", price="\x00 \ud800")])
    await sink.put([book("a", price=2**70)])
    (change,) = changes(sink_url)
    assert (change.before["price"], change.after["price"]) == ("\x00 \ud800", 2**70)


async def test_changed_since_gives_what_changed_and_what_is_new(sink: Sink, sink_url: str) -> None:
    feed = "?stream=" in sink_url or "?list=" in sink_url  # it has no line for a replay
    plain = [make_item("plain", price=1), make_item("same", price=1)]
    await sink.put([book("a", price=1, title="x"), book("b", price=1), *plain])
    then = await later()
    await sink.put([book("a", price=1, title="y"), book("b", price=2), make_item("plain", price=2)])
    await sink.put([make_item("same", price=1), book("new", price=1)])
    found = read_stored(sink_url, Wanted(changed_since=then))
    assert {each.item.id for each in found} == {"b", "plain", "new"}
    assert len(list(read_stored(sink_url, Wanted(since=then)))) == (4 if feed else 5)
    assert len(list(read_stored(sink_url, Wanted(until=then)))) == (1 if feed else 0)


@kept
def test_writers_at_the_same_time_lose_no_change(sink_url: str) -> None:
    """Each writer gives each of the shared items its own price: every put but the first changes."""
    with ExitStack() as stack:
        names = ["w0", "w1", "w2"]
        started = [
            stack.enter_context(writer(sink_url, name, puts=25, size=1, module="price_writer"))
            for name in names
        ]
        for process in started:
            assert process.stdout
            assert process.stdout.readline() == "ready\n"
        for process in started:
            process.stdin.write("\n")  # type: ignore[union-attr]
        for process in started:
            process.communicate(timeout=90)
            assert process.returncode == 0
    found = changes(sink_url, item="shared")
    now = next(each for each in read_stored(sink_url) if each.item.id == "shared")
    values = [found[0].before, *(change.after for change in found)]
    assert [change.before for change in found] == values[:-1]
    assert values[-1]["price"] == now.item.data["price"]
    assert len({value["price"] for value in values}) == len(values) == 75


async def test_pages_follow_each_other(sink: Sink, sink_url: str) -> None:
    names = [f"{n:02}" for n in range(25)]
    await sink.put([make_item(name, n=int(name)) for name in names])
    seen: list[str] = []
    after: str | None = None
    for _ in range(3):
        page, after = read_page(sink_url, after=after, limit=10)
        seen += [found.item.id for found in page]
    assert (seen, after) == (names, None)
    assert read_page(sink_url, Wanted(id="07"), limit=5)[0][0].item.data == {"n": 7}
    assert read_page(sink_url, Wanted(job="none"), limit=5) == ([], None)
    await sink.put([make_item("25")])
    page, after = read_page(sink_url, limit=26)
    assert (len(page), after) == (26, None)


async def test_a_feed_has_no_history(redis_server: Any) -> None:
    with pytest.raises(NoHistory, match="SQLite"):
        read_history(f"{redis_server.url}?stream=s")


async def test_a_file_of_an_earlier_version_gets_the_new_columns(tmp_path: Path) -> None:
    path = tmp_path / "items.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute(
            "CREATE TABLE items (id TEXT PRIMARY KEY NOT NULL, job TEXT NOT NULL, spider TEXT NOT"
            " NULL, kind TEXT NOT NULL, url TEXT NOT NULL, data TEXT NOT NULL, attrs TEXT NOT NULL,"
            " worker TEXT NOT NULL, first_seen TEXT NOT NULL, last_seen TEXT NOT NULL)"
        )
        old = ("a", "j", "s", "Book", "u", '{"price":1}', "{}", "w", "2026-01-01", "2026-01-01")
        database.execute("INSERT INTO items VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", old)
        database.commit()
    sinks = [open_sink(f"sqlite:{path}") for _ in range(3)]
    await asyncio.gather(*(sink.open() for sink in sinks))
    for price, sink in enumerate(sinks):
        await sink.put([book("a", price=price)])
        await sink.close()
    (found,) = read_stored(path)
    assert found.first_seen == "2026-01-01"
    assert [change.after["price"] for change in changes(str(path))] == [1, 2]
    assert ids(str(path)) == ["a"]
