"""What validation refused, kept in SQLite beside the items: listed, checked again, released.

An entry has the identity that its item would have had, so a page that is replayed replaces it, and
one that is accepted later becomes exactly that item. Released means stored in a sink first and
taken out of here after, so that a crash between leaves it in both, never in none.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from skitter.errors import SinkError
from skitter.sinks.item import Item
from skitter.sinks.json_text import to_json
from skitter.sinks.shape import Shape
from skitter.sinks.sink import Sink

PATIENCE_S = 30.0
AT_ONCE = 500
_SCHEMA = """
    CREATE TABLE IF NOT EXISTS quarantine (
      id TEXT PRIMARY KEY NOT NULL,
      job TEXT NOT NULL,
      spider TEXT NOT NULL,
      kind TEXT NOT NULL,
      url TEXT NOT NULL,
      field TEXT NOT NULL,
      reason TEXT NOT NULL,
      raw TEXT NOT NULL,
      data TEXT NOT NULL,
      attrs TEXT NOT NULL,
      worker TEXT NOT NULL,
      first_seen TEXT NOT NULL,
      last_seen TEXT NOT NULL,
      fetched_at TEXT NOT NULL DEFAULT '',
      parser TEXT NOT NULL DEFAULT '',
      tracked TEXT NOT NULL DEFAULT '[]'
    )
"""
# What tables of earlier versions lack.
_ADDED = {"fetched_at": "''", "parser": "''", "tracked": "'[]'"}
_UPSERT = """
    INSERT INTO quarantine (id, job, spider, kind, url, field, reason, raw, data, attrs, worker,
      fetched_at, parser, tracked, first_seen, last_seen)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (id) DO UPDATE SET
      job = excluded.job, spider = excluded.spider, kind = excluded.kind, url = excluded.url,
      field = excluded.field, reason = excluded.reason, raw = excluded.raw, data = excluded.data,
      attrs = excluded.attrs, worker = excluded.worker, fetched_at = excluded.fetched_at,
      parser = excluded.parser, tracked = excluded.tracked, last_seen = excluded.last_seen
"""
_PAGE = """
    SELECT rowid, id, job, spider, url, kind, data, worker, attrs, fetched_at, parser, tracked,
      field, reason, raw
    FROM quarantine WHERE rowid > :after AND (:job IS NULL OR job = :job)
    AND (:spider IS NULL OR spider = :spider) ORDER BY rowid LIMIT :count
"""


@dataclass(frozen=True, slots=True)
class Held:
    """An item in quarantine. field and raw are of the first thing that is wrong."""

    item: Item
    reason: str
    field: str = ""
    raw: str = ""


@dataclass(slots=True)
class Rechecked:
    """What became of entries that were checked again: how many, and by which reasons not."""

    released: int = 0
    held: int = 0
    reasons: dict[str, int] = field(default_factory=dict)


Judge = Callable[[Item], Mapping[str, Any] | str]
"""The fields of an item that is accepted now, or the reason why it is not."""


class Quarantine:
    """The table `quarantine` of a file. Its calls wait for the disk: use a thread in a loop."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def put(self, entries: Sequence[Held]) -> None:
        """Keep entries; they are on the disk when this returns, and twice is once."""
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        rows = [_row(entry, now) for entry in entries]
        with self._open() as connection, connection:
            connection.executemany(_UPSERT, rows)

    def entries(self, *, job: str | None = None, spider: str | None = None) -> Iterator[Held]:
        """What is held, in the order in which it came."""
        values: dict[str, Any] = {"after": 0, "count": AT_ONCE, "job": job, "spider": spider}
        while True:
            with self._open() as connection:
                rows = connection.execute(_PAGE, values).fetchall()
            yield from map(_held, rows)
            if len(rows) < AT_ONCE:
                return
            values["after"] = rows[-1][0]

    def count(self) -> int:
        """How many are held."""
        with self._open() as connection:
            return int(connection.execute("SELECT count(*) FROM quarantine").fetchone()[0])

    def discard(self, ids: Sequence[str]) -> int:
        """Take entries out for good, and say how many there were."""
        with self._open() as connection, connection:
            statement = "DELETE FROM quarantine WHERE id = ?"
            return sum(connection.execute(statement, (one,)).rowcount for one in ids)

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(self.path, timeout=PATIENCE_S)) as connection:
                connection.execute("PRAGMA journal_mode=WAL")
                connection.execute("PRAGMA synchronous=FULL")
                connection.execute(_SCHEMA)
                _migrate(connection)
                yield connection
        except (sqlite3.Error, OSError) as error:
            raise SinkError(sink=f"quarantine {self.path}", reason=str(error)) from error


async def recheck(
    quarantine: Quarantine, judge: Judge, sink: Sink, *, job: str | None = None
) -> Rechecked:
    """Check all entries again; what is accepted now goes to the sink, the rest stays."""
    done = Rechecked()
    for entry in quarantine.entries(job=job):
        verdict = judge(entry.item)
        if isinstance(verdict, str):
            done.held += 1
            done.reasons[verdict] = done.reasons.get(verdict, 0) + 1
            continue
        entry.item.data = dict(verdict)
        await release(quarantine, [entry], sink)
        done.released += 1
    return done


async def release(quarantine: Quarantine, entries: Sequence[Held], sink: Sink) -> None:
    """Let entries pass as they are: into the sink, then out of here."""
    await sink.put([entry.item for entry in entries])
    quarantine.discard([entry.item.id for entry in entries])


def _migrate(connection: sqlite3.Connection) -> None:
    there = {name for _, name, *_ in connection.execute("PRAGMA table_info(quarantine)")}
    for name, default in _ADDED.items():
        if name not in there:
            connection.execute(
                f"ALTER TABLE quarantine ADD COLUMN {name} TEXT NOT NULL DEFAULT {default}"
            )


def _row(entry: Held, now: str) -> tuple[str, ...]:
    item = entry.item
    data, attrs = to_json(item.data, url=item.url), to_json(item.attrs, url=item.url)
    tracked = to_json(item.shape.tracked if item.shape else (), url=item.url)
    names = (item.id, item.job, item.spider, item.kind, item.url)
    origin = (item.worker, item.fetched_at, item.parser, tracked)
    texts = (*names, entry.field, entry.reason, entry.raw, data, attrs, *origin)
    return (*(text.encode("utf-8", "replace").decode() for text in texts), now, now)


def _held(row: tuple[Any, ...]) -> Held:
    _, identity, job, spider, url, kind, data, worker, attrs, *origin, name, reason, raw = row
    fetched_at, parser, names = origin
    tracked = tuple(json.loads(names))
    item = Item(
        id=identity,
        job=job,
        spider=spider,
        url=url,
        kind=kind,
        data=json.loads(data),
        worker=worker,
        attrs=json.loads(attrs),
        fetched_at=fetched_at,
        parser=parser,
        shape=Shape(kind, {}, tracked) if tracked else None,
    )
    return Held(item, reason, name, raw)
