"""What only file sinks have: segments, dead writers, and the one file of a finalised job."""

from __future__ import annotations

import asyncio
import csv
import json
import os
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from skitter.errors import SinkFull, SinkReadOnly, UnknownSink
from skitter.sinks import open_sink, read_stored
from skitter.sinks.files import FilesSink, Place
from skitter.sinks.finalising import finalise
from skitter.sinks.segments import folder_name
from tests.contract.sinks.items import ids, make_item
from tests.contract.sinks.writers import writer
from tests.wait import wait_until_async


def segments(folder: Path, ending: str = ".jsonl") -> list[Path]:
    return sorted((folder / "raw").glob(f"*/*{ending}"))


async def put(url: str, *names: str, **data: Any) -> None:
    sink = open_sink(url)
    await sink.open()
    await sink.put([make_item(name, **data) for name in names])
    await sink.close()


async def test_a_segment_has_its_name_when_it_is_whole(tmp_path: Path) -> None:
    sink = FilesSink.from_url(f"jsonl:{tmp_path}")
    await sink.open()
    await asyncio.gather(*(sink.put([make_item(str(n), n=n)]) for n in range(300)))
    assert (len(segments(tmp_path)), len(segments(tmp_path, ".part"))) == (0, 1)
    assert sink.commits < 30
    await sink.close()
    assert segments(tmp_path, ".part") == []
    (path,) = segments(tmp_path)
    assert path.parent.name == "books"
    assert [line["data"]["n"] for line in rows(path)] == list(range(300))


async def test_segments_rotate_by_size(tmp_path: Path) -> None:
    url = f"jsonl:{tmp_path}?segment_mb=0.002"
    sink = open_sink(url)
    await sink.open()
    for n in range(40):
        await sink.put([make_item(f"{n:02}", text="x" * 200)])
    await sink.close()
    assert len(segments(tmp_path)) > 4
    assert ids(url) == [f"{n:02}" for n in range(40)]


async def test_segments_rotate_by_time_also_when_nothing_comes(tmp_path: Path) -> None:
    sink = open_sink(f"jsonl:{tmp_path}?segment_s=0.1")
    await sink.open()
    await sink.put([make_item("a")])
    await wait_until_async(lambda: len(segments(tmp_path)) == 1, what="it is finished")
    await sink.put([make_item("b")])
    await sink.close()
    assert len(segments(tmp_path)) == 2


async def test_a_torn_line_of_a_dead_writer_is_cut_off(tmp_path: Path) -> None:
    url = f"jsonl:{tmp_path}"
    await put(url, "a", "b")
    (path,) = segments(tmp_path)
    part = path.rename(path.with_name(path.name + ".part"))
    whole = part.read_bytes()
    part.write_bytes(whole + whole.splitlines(keepends=True)[0] + b'{"id":"torn","da')
    assert ids(url) == ["a", "b"]
    await put(url, "c")
    assert path.read_bytes() == whole
    assert ids(url) == ["a", "b", "c"]


async def test_what_a_dead_writer_never_committed_is_removed(tmp_path: Path) -> None:
    await put(f"jsonl:{tmp_path}", "a")
    stray = tmp_path / "raw" / "books" / "0-dead-000001.jsonl.part"
    stray.write_bytes(b'{"id":')
    await put(f"jsonl:{tmp_path}", "b")
    assert not stray.exists()


async def test_a_living_writers_segment_is_left_alone(tmp_path: Path) -> None:
    url = f"jsonl:{tmp_path}"
    living = open_sink(url)
    await living.open()
    await living.put([make_item("a")])
    (part,) = segments(tmp_path, ".part")
    await put(url, "b")
    assert part.exists()
    await living.put([make_item("c")])
    await living.close()
    assert sorted(ids(url)) == ["a", "b", "c"]


def test_a_killed_writer_leaves_no_torn_line(tmp_path: Path) -> None:
    url = f"csv:{tmp_path}"
    with writer(url, "w", puts=100_000, size=5) as process:
        assert process.stdin
        assert process.stdout
        process.stdout.readline()
        print(file=process.stdin, flush=True)
        told = [process.stdout.readline().split() for _ in range(30)]
        process.kill()
        process.wait()
    path, count = finalise(url, "books")
    with path.open(encoding="utf-8", newline="") as file:
        found = [row["_id"] for row in csv.DictReader(file)]
    assert len(found) == len(set(found)) == count
    assert {identity for line in told for identity in line} <= set(found)
    assert segments(tmp_path, ".part") == []
    for segment in segments(tmp_path):
        assert all(line["job"] == "books" for line in rows(segment))


@pytest.mark.parametrize("form", ["jsonl", "csv", "parquet"])
async def test_finalise_has_each_item_once_and_the_last_of_equals(
    tmp_path: Path, form: str
) -> None:
    url = f"{form}:{tmp_path}"
    await put(url, "a", "b", price=1)
    await put(url, "b", "c", price=2)
    await put(url, "other", "a", price=3, tags=["x"])
    path, count = finalise(url, "books")
    assert path == tmp_path / "processed" / f"books.{form}"
    assert count == 4
    assert [(row["_id"], int(row["price"])) for row in rows(path)] == [
        ("a", 3),
        ("b", 2),
        ("c", 2),
        ("other", 3),
    ]
    await put(url, "d", price=4)
    assert finalise(url, "books")[1] == 5
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def rows(path: Path) -> list[dict[str, Any]]:
    if path.suffix == ".parquet":
        return list(pq.read_table(path).to_pylist())
    with path.open(encoding="utf-8", newline="") as file:
        if path.suffix == ".csv":
            return list(csv.DictReader(file))
        return [json.loads(line) for line in file]


async def test_times_are_those_of_the_first_and_the_last_put(tmp_path: Path) -> None:
    await put(f"jsonl:{tmp_path}", "a")
    (first,) = read_stored(f"jsonl:{tmp_path}")
    await asyncio.sleep(0.005)  # times have milliseconds
    await put(f"jsonl:{tmp_path}", "a")
    (again,) = read_stored(f"jsonl:{tmp_path}")
    assert again.first_seen == first.first_seen == first.last_seen < again.last_seen


async def test_jobs_of_any_name_have_folders_of_their_own(tmp_path: Path) -> None:
    names = ["a/b", "..", ".", "", "a b", "%", "ü" * 100, "ü" * 99, "a%2Fb"]
    url = f"jsonl:{tmp_path}"
    sink = open_sink(url)
    await sink.open()
    await sink.put([make_item(str(n), job=name) for n, name in enumerate(names)])
    await sink.close()
    assert len({folder_name(name) for name in names}) == len(names)
    assert [ids(url, job=name) for name in names] == [[str(n)] for n in range(len(names))]
    assert len(list((tmp_path / "raw").iterdir())) == len(names)


async def test_a_folder_that_was_deleted_is_made_anew(tmp_path: Path) -> None:
    sink = open_sink(f"jsonl:{tmp_path}")
    await sink.open()
    await sink.put([make_item("a")])
    (part,) = segments(tmp_path, ".part")
    part.unlink()
    part.parent.rmdir()
    await sink.put([make_item("b")])
    await sink.close()
    assert ids(f"jsonl:{tmp_path}") == ["b"]


async def test_a_disk_that_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sink = open_sink(f"jsonl:{tmp_path}")
    await sink.open()
    await sink.put([make_item("a")])
    with monkeypatch.context() as patched:
        patched.setattr("skitter.sinks.segment.os.fdatasync", _full)
        with pytest.raises(SinkFull, match="No space left"):
            await sink.put([make_item("b")])
    await sink.put([make_item("c")])
    await sink.close()
    assert ids(f"jsonl:{tmp_path}") == ["a", "c"]


def _full(_: int) -> None:
    raise OSError(28, os.strerror(28))


async def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SinkReadOnly, match="file"):
        await open_sink(f"jsonl:{tmp_path}/file").open()


def test_the_folder_of_a_url() -> None:
    assert Place.of_url("jsonl:").raw == Path("data/raw").absolute()
    assert Place.of_url("csv:here").processed("a") == Path("here/processed/a.csv").absolute()
    for wrong in ("jsonl://data", "jsonl:data?size=1", "jsonl:data?segment_mb=x"):
        with pytest.raises(UnknownSink, match="jsonl:data"):
            Place.of_url(wrong)
    with pytest.raises(UnknownSink, match="only files"):
        finalise("sqlite:items.db", "a")
