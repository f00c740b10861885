"""What only the SQLite sink has: one file, locks, disks that fill up."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from skitter.errors import (
    SinkBusy,
    SinkDamaged,
    SinkError,
    SinkFull,
    SinkGone,
    SinkReadOnly,
    SinkRefused,
)
from skitter.sinks import read_items, sqlite_file
from skitter.sinks.rows import now_text
from skitter.sinks.sqlite import SqliteSink
from tests.contract.sinks.items import ROOT, ids, make_item
from tests.wait import wait_until_async


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "items.db"


async def test_puts_at_the_same_time_share_transactions(path: Path) -> None:
    sink = SqliteSink(path)
    await sink.open()
    await asyncio.gather(*(sink.put([make_item(str(n))]) for n in range(500)))
    await sink.close()
    assert sink.commits < 50


@pytest.mark.parametrize("text", ["short", "long " * 5_000], ids=["short", "long"])
async def test_a_put_of_any_size_is_stored_in_its_order(path: Path, text: str) -> None:
    sink = SqliteSink(path)
    await sink.open()
    expected = []
    for size in (1, 2, 3, 63, 64, 65, 200):
        names = [f"{size}-{n}" for n in range(size)]
        await sink.put([make_item(name, text=text) for name in [*names, names[0]]])
        expected += names
    await sink.close()
    assert ids(str(path)) == expected


async def test_the_table_can_be_queried(path: Path) -> None:
    sink = SqliteSink(path)
    await sink.open()
    await sink.put([make_item("a", offer={"price": 5})])
    with closing(sqlite3.connect(path)) as database:
        query = "SELECT data ->> '$.offer.price', first_seen, last_seen FROM items WHERE job = ?"
        ((price, first, last),) = database.execute(query, ["books"])
        assert (price, first) == (5, last)
        assert database.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        plan = database.execute(f"EXPLAIN QUERY PLAN {query}", ["books"]).fetchone()
        assert "items_job" in plan[-1]
    await wait_until_async(lambda: now_text() > last, what="the clock goes on")
    await sink.put([make_item("a", offer={"price": 6})])
    await sink.close()
    with closing(sqlite3.connect(path)) as database:
        ((again, later),) = database.execute("SELECT first_seen, last_seen FROM items")
    assert again == first
    assert later > last


async def test_a_file_that_another_program_keeps_locked(path: Path) -> None:
    sink = SqliteSink(path, patience_s=0.1)
    await sink.open()
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(SinkBusy, match=r"locked for 0\.1"):
            await sink.put([make_item("a")])
    await sink.put([make_item("a")])
    await sink.close()
    assert ids(str(path)) == ["a"]


async def test_a_lock_that_is_let_go_in_time_is_waited_for(path: Path) -> None:
    sink = SqliteSink(path)
    await sink.open()
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        put = asyncio.create_task(sink.put([make_item("a")]))
        done, _ = await asyncio.wait([put], timeout=0.05)
        assert not done
        other.execute("ROLLBACK")
        await asyncio.wait_for(put, 30)
    await sink.close()


async def test_a_disk_that_is_full(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small = (*sqlite_file._PRAGMAS, "PRAGMA max_page_count=40")
    monkeypatch.setattr(sqlite_file, "_PRAGMAS", small)
    sink = SqliteSink(path)
    await sink.open()
    await sink.put([make_item("a")])
    with pytest.raises(SinkFull, match="Free some space"):
        await sink.put([make_item(str(n), text="x" * 5000) for n in range(100)])
    await sink.put([make_item("b")])
    await sink.close()
    assert ids(str(path)) == ["a", "b"]


def test_a_write_that_the_system_refuses(path: Path) -> None:
    """A bound on the size of files stands for all that a disk may do besides being full."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.contract.sinks.bounded_writer", str(path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert "disk I/O error" in done.stdout
    assert ids(str(path)) == ["before", "after"]


async def test_what_the_table_refuses_is_one_puts_error(path: Path) -> None:
    sink = SqliteSink(path)
    await sink.open()
    with closing(sqlite3.connect(path)) as database:
        database.execute(
            "CREATE TRIGGER no_big BEFORE INSERT ON items WHEN new.id = 'big' BEGIN"
            " SELECT RAISE(ABORT, 'too big for us'); END"
        )
    puts = [[make_item("a")], [make_item("b"), make_item("big")], [make_item("c")]]
    results = await asyncio.gather(*map(sink.put, puts), return_exceptions=True)
    await sink.close()
    assert [type(result) for result in results] == [type(None), SinkRefused, type(None)]
    assert "too big for us" in str(results[1])
    assert ids(str(path)) == ["a", "c"]


async def test_a_place_that_cannot_be_written() -> None:
    with pytest.raises(SinkReadOnly, match=r"items\.sink"):
        await SqliteSink(Path("/proc/nowhere/items.db")).open()


async def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(SinkReadOnly, match="unable to open"):
        await SqliteSink(tmp_path).open()


async def test_a_file_of_another_kind(path: Path) -> None:
    path.write_text("this is no database" * 100)
    with pytest.raises(SinkDamaged, match="not a database"):
        await SqliteSink(path).open()
    with pytest.raises(SinkDamaged):
        list(read_items(path))


async def test_a_file_that_was_deleted_while_open(path: Path) -> None:
    sink = SqliteSink(path)
    await sink.open()
    await sink.put([make_item("a")])
    aside = path.rename(path.with_name("aside"))
    with pytest.raises(SinkGone, match="deleted or replaced"):
        await sink.put([make_item("b")])
    aside.rename(path)
    await sink.put([make_item("c")])
    await sink.close()
    assert ids(str(path)) == ["a", "c"]


def test_reading_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(SinkError, match="no such file"):
        list(read_items(tmp_path / "missing.db"))


async def test_reading_while_it_is_written(path: Path) -> None:
    sink = SqliteSink(path)
    await sink.open()
    await sink.put([make_item(f"{n:04}") for n in range(1200)])
    reader = read_items(path)
    assert next(reader).id == "0000"
    await sink.put([make_item("later")])
    assert [item.id for item in reader][-1] == "later"
    await sink.close()
