"""What every sink promises."""

from __future__ import annotations

import asyncio
import io
import json
from contextlib import ExitStack
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from skitter.errors import SinkError, UnstorableItem
from skitter.sinks import export_items, open_sink, read_items
from tests.contract.sinks.items import ids, make_item
from tests.contract.sinks.writers import writer

if TYPE_CHECKING:
    from skitter.sinks import Sink


async def test_what_was_put_can_be_read(sink: Sink, sink_url: str) -> None:
    item = make_item("a", title="Žluťoučký 本 🦫 \x00 \ud800", price=12.5, tags=["x", None, True])
    item.attrs = {"customer": 7, "of": {"who": "me"}}
    await sink.put([item])
    assert list(read_items(sink_url)) == [item]


async def test_values_without_a_form_in_json_are_converted(sink: Sink, sink_url: str) -> None:
    await sink.put([make_item("a", seen=datetime(2026, 11, 16, tzinfo=UTC), tags={"b", "a"})])
    (found,) = read_items(sink_url)
    assert found.data == {"seen": "2026-11-16T00:00:00+00:00", "tags": ["a", "b"]}


async def test_twice_is_the_same_as_once(sink: Sink, sink_url: str) -> None:
    items = [make_item(name, n=n) for n, name in enumerate("abc")]
    await sink.put(items)
    await sink.put([*items, *items])
    assert list(read_items(sink_url)) == items


async def test_an_item_that_comes_again_is_replaced_in_its_place(sink: Sink, sink_url: str) -> None:
    await sink.put([make_item("a", price=1), make_item("b", price=1)])
    await sink.put([make_item("a", price=2, sale=True)])
    assert [(item.id, item.data) for item in read_items(sink_url)] == [
        ("a", {"price": 2, "sale": True}),
        ("b", {"price": 1}),
    ]


async def test_the_last_of_equals_in_one_put_counts(sink: Sink, sink_url: str) -> None:
    await sink.put([make_item("a", price=1), make_item("a", price=2)])
    assert [item.data for item in read_items(sink_url)] == [{"price": 2}]


async def test_items_are_told_apart_by_job_and_kind(sink: Sink, sink_url: str) -> None:
    await sink.put([make_item("a"), make_item("b", job="cars"), make_item("c", kind="Author")])
    await sink.put([make_item("d", job="cars", kind="Author")])
    assert ids(sink_url, job="books") == ["a", "c"]
    assert ids(sink_url, kind="Author") == ["c", "d"]
    assert ids(sink_url, job="cars", kind="Author") == ["d"]
    assert ids(sink_url, job="'; DROP TABLE items; --") == []


async def test_a_big_batch(sink: Sink, sink_url: str) -> None:
    size = 2_000 if sink_url.startswith("mongodb:") else 20_000  # the stand-in is slow
    await sink.put([make_item(f"{n:05}", text="x" * 200) for n in range(size)])
    assert ids(sink_url) == [f"{n:05}" for n in range(size)]


async def test_an_empty_put(sink: Sink, sink_url: str) -> None:
    await sink.put([])
    assert ids(sink_url) == []


async def test_puts_at_the_same_time(sink: Sink, sink_url: str) -> None:
    await asyncio.gather(*(sink.put([make_item(f"{n}-{i}") for i in range(3)]) for n in range(300)))
    assert len(set(ids(sink_url))) == 900


async def test_what_cannot_be_stored_is_refused_alone_and_names_its_field(
    sink: Sink, sink_url: str
) -> None:
    bad = make_item("bad", offer={"prices": [1, object()]})
    puts = [sink.put([make_item("a")]), sink.put([make_item("c"), bad]), sink.put([make_item("b")])]
    _, refused, _ = await asyncio.gather(*puts, return_exceptions=True)
    assert isinstance(refused, UnstorableItem)
    assert refused.field == "offer.prices.1"
    assert sorted(ids(sink_url)) == ["a", "b"]


async def test_half_a_character_in_a_name_is_refused_alone(sink: Sink, sink_url: str) -> None:
    puts = [sink.put([make_item("a")]), sink.put([make_item("b", kind="\ud800")])]
    _, refused = await asyncio.gather(*puts, return_exceptions=True)
    assert isinstance(refused, UnstorableItem)
    assert refused.field == "kind"
    assert ids(sink_url) == ["a"]


async def test_close_and_reopen(sink_url: str) -> None:
    for name in "ab":
        sink = open_sink(sink_url)
        for _ in range(2):
            await sink.open()
        await sink.put([make_item(name)])
        for _ in range(2):
            await sink.close()
    assert ids(sink_url) == ["a", "b"]


async def test_close_writes_what_waits(sink_url: str) -> None:
    sink = open_sink(sink_url)
    await sink.open()
    puts = [asyncio.create_task(sink.put([make_item(str(n))])) for n in range(50)]
    await asyncio.sleep(0)
    await sink.close()
    await asyncio.gather(*puts)
    assert len(ids(sink_url)) == 50


async def test_a_closed_sink_takes_nothing(sink_url: str) -> None:
    sink = open_sink(sink_url)
    with pytest.raises(SinkError, match="not open"):
        await sink.put([make_item("a")])


async def test_a_cancelled_put_does_no_harm(sink: Sink, sink_url: str) -> None:
    puts = [asyncio.create_task(sink.put([make_item(str(n))])) for n in range(20)]
    await asyncio.sleep(0)
    for put in puts[::2]:
        put.cancel()
    await asyncio.gather(*puts, return_exceptions=True)
    await sink.put([make_item("last")])
    assert {"last", *map(str, range(1, 20, 2))} <= set(ids(sink_url))


def test_what_a_killed_writer_was_told_is_durable_is_there(sink_url: str) -> None:
    with writer(sink_url, "w", puts=100_000, size=3) as process:
        assert process.stdin
        assert process.stdout
        process.stdout.readline()
        print(file=process.stdin, flush=True)
        told = [process.stdout.readline().split() for _ in range(40)]
        process.kill()
        told += [line.split() for line in process.stdout if line.endswith("\n")]
    stored = set(ids(sink_url))
    assert {identity for line in told for identity in line} <= stored
    assert all(f"w-{n}-{i}" in stored for n in range(len(told)) for i in range(3))


def test_writers_in_several_processes(sink_url: str) -> None:
    names = ["w0", "w1", "w2"]
    with ExitStack() as stack:
        started = [stack.enter_context(writer(sink_url, n, puts=40, size=4)) for n in names]
        for process in started:
            assert process.stdout
            assert process.stdout.readline() == "ready\n"
        for process in started:
            process.stdin.write("\n")  # type: ignore[union-attr]
        outputs = [process.communicate(timeout=60)[0].split() for process in started]
        assert [process.returncode for process in started] == [0, 0, 0]
    stored = ids(sink_url)
    shared = [f"shared-{n}" for n in range(40)]
    assert sorted(stored) == sorted([*shared, *(name for output in outputs for name in output)])
    assert len(stored) == 3 * 40 * 4 + 40


async def test_export_writes_json_lines(sink: Sink, sink_url: str) -> None:
    await sink.put([make_item("a", title="ü"), make_item("b", title="\ud800")])
    out, whole = io.StringIO(), io.StringIO()
    assert export_items(read_items(sink_url), out) == 2
    assert export_items(read_items(sink_url, job="books"), whole, whole=True) == 2
    assert out.getvalue().splitlines()[0] == '{"title":"ü"}'
    assert out.getvalue().encode()
    first = json.loads(whole.getvalue().splitlines()[0])
    assert (first["id"], first["job"], first["data"]) == ("a", "books", {"title": "ü"})
