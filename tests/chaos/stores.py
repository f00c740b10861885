"""The places that a chaos crawl's items go to, and what is in them when it is over."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from skitter.sinks import Wanted, read_stored
from skitter.sinks.finalising import finalise
from tests.servers.mongo import MongoProcess
from tests.servers.postgres import PostgresProcess

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

StoreName = Literal["postgres", "mongo", "jsonl"]
STORES: tuple[StoreName, ...] = get_args(StoreName)


@dataclass(frozen=True)
class Store:
    """A sink by its URL, with the database behind it, if there is one to be killed."""

    name: StoreName
    url: str
    database: PostgresProcess | MongoProcess | None
    folder: Path

    def items(self, job: str) -> list[dict[str, Any]]:
        """The data of a job's items; those of files when the job is finalised."""
        if self.name != "jsonl":
            return [found.item.data for found in read_stored(self.url, Wanted(job=job))]
        path, _ = finalise(self.url, job)
        return [_data(line) for line in path.read_text(encoding="utf-8").splitlines()]

    def torn(self) -> list[str]:
        """Lines of files that are no whole JSON, after what dead writers left was finished."""
        paths = self.folder.rglob("*.jsonl") if self.name == "jsonl" else ()
        return [f"{path.name}: {line[-80:]!r}" for path in paths for line in _torn_lines(path)]


@contextmanager
def open_store(name: StoreName, folder: Path) -> Iterator[Store]:
    """A place that is empty, in a folder or on a server of its own."""
    if name == "jsonl":
        yield Store(name, f"jsonl:{folder}/data?segment_s=5", None, folder / "data")
        return
    process = PostgresProcess() if name == "postgres" else MongoProcess()
    with process as database:
        yield Store(name, database.url, database, folder)


def _data(line: str) -> dict[str, Any]:
    """An item's own fields; where it came from stands beside them, under names with `_`."""
    return {name: value for name, value in json.loads(line).items() if not name.startswith("_")}


def _torn_lines(path: Path) -> list[bytes]:
    lines = path.read_bytes().splitlines(keepends=True)
    return [line for line in lines if not line.endswith(b"\n") or not _is_json(line)]


def _is_json(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False
