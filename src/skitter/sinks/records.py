"""An item as one line of JSON, in files and in Redis, and the last of those with one identity.

Lines of one item may stand in several places: a page that was fetched again, a version that
changed. The one that was stored last counts, at the place of the first. To find them takes an index
in a temporary database on disk, so that memory does not grow with the number of items.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from functools import lru_cache
from hashlib import blake2b
from json.encoder import encode_basestring as quoted
from typing import TYPE_CHECKING, Any

from skitter.sinks.item import STORED, Item
from skitter.sinks.stored import Change, Stored

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from skitter.sinks.rows import Row

AT_ONCE = 1_000

_SCHEMA = """
    CREATE TABLE latest (
      nth INTEGER PRIMARY KEY, id TEXT UNIQUE NOT NULL, place NOT NULL,
      first_seen TEXT NOT NULL, last_seen TEXT NOT NULL,
      first_job TEXT NOT NULL, changed_at TEXT NOT NULL, content BLOB NOT NULL
    )
"""
_NOTE = """
    INSERT INTO latest (id, place, first_seen, last_seen, first_job, changed_at, content)
    VALUES (?1, ?2, ?3, ?3, ?4, ?3, ?5)
    ON CONFLICT (id) DO UPDATE SET
      place = CASE WHEN ?3 >= last_seen THEN ?2 ELSE place END,
      first_job = CASE WHEN ?3 < first_seen THEN ?4 ELSE first_job END,
      changed_at = CASE WHEN ?3 >= last_seen AND content <> ?5 THEN ?3 ELSE changed_at END,
      content = CASE WHEN ?3 >= last_seen THEN ?5 ELSE content END,
      first_seen = min(first_seen, ?3), last_seen = max(last_seen, ?3)
"""
_CHANGES = """
    SELECT item, at, job, before, tracked FROM (
      SELECT rowid AS nth, *, lag(tracked) OVER (PARTITION BY item ORDER BY at, rowid) AS before
      FROM versions
    )
    WHERE before <> tracked AND (:job IS NULL OR job = :job) AND at >= :since ORDER BY at, nth
"""

Noted = tuple[str, int | str, str, str, bytes]
"""An item's id, where its line is, when and by which job that was stored, and what may change."""


def record_of(row: Row) -> str:
    """A row as JSON, without the end of the line."""
    origin = _origin(row.job, row.spider, row.kind, row.worker, row.parser)
    return (
        f'{{"id":{quoted(row.id)},{origin},"url":{quoted(row.url)}'
        f',"fetched_at":{quoted(row.fetched_at)},"seen":"{row.seen}","data":{row.data}'
        f',"attrs":{row.attrs},"tracked":{row.tracked or "null"}}}'
    )


@lru_cache(maxsize=1024)
def _origin(job: str, spider: str, kind: str, worker: str, parser: str) -> str:
    """What many items have in common, as part of an object."""
    return (
        f'"job":{quoted(job)},"spider":{quoted(spider)},"kind":{quoted(kind)}'
        f',"worker":{quoted(worker)},"parser":{quoted(parser)}'
    )


def stored_of(line: str | bytes, *times: str) -> Stored:
    """An item of a line, with what `latest` tells of it."""
    found = json.loads(line)
    return Stored(Item(**{name: found[name] for name in STORED if name in found}), *times)


def noted(line: str | bytes, place: int | str) -> Noted:
    """What `latest` is to know of a line."""
    found = json.loads(line)
    return found["id"], place, found["seen"], found["job"], _digest(tracked_in(found))


def tracked_in(found: dict[str, Any]) -> dict[str, Any]:
    """The fields of a line whose changes count: the tracked ones, or all."""
    tracked = found.get("tracked")
    values: dict[str, Any] = found["data"] if tracked is None else tracked
    return values


def _digest(values: dict[str, Any]) -> bytes:
    text = json.dumps(values, sort_keys=True)
    return blake2b(text.encode(), digest_size=12).digest()


def latest(lines: Iterable[Noted]) -> Iterator[tuple[int | str, str, str, str, str]]:
    """The place of each item's last line, in the order of firsts, and what a Stored tells of it."""
    with closing(sqlite3.connect("", isolation_level=None, check_same_thread=False)) as index:
        index.execute(_SCHEMA)
        index.execute("BEGIN")
        index.executemany(_NOTE, lines)
        index.execute("COMMIT")
        found = index.execute(
            "SELECT place, first_seen, last_seen, first_job, changed_at FROM latest ORDER BY nth"
        )
        while rows := found.fetchmany(AT_ONCE):
            yield from rows


def changes(
    lines: Iterable[bytes], *, item: str | None = None, job: str | None = None, since: str = ""
) -> Iterator[Change]:
    """What changed in tracked fields, by all lines of all items, in the order of time."""
    with closing(sqlite3.connect("", isolation_level=None, check_same_thread=False)) as index:
        index.execute("CREATE TABLE versions (item, at, job, tracked)")
        index.execute("BEGIN")
        index.executemany("INSERT INTO versions VALUES (?, ?, ?, ?)", _versions(lines, item))
        index.execute("COMMIT")
        found = index.execute(_CHANGES, {"job": job, "since": since})
        while rows := found.fetchmany(AT_ONCE):
            for whose, at, by, before, after in rows:
                yield Change(whose, at, by, json.loads(before), json.loads(after))


def _versions(lines: Iterable[bytes], only: str | None) -> Iterator[tuple[str, str, str, str]]:
    for line in lines:
        found = json.loads(line)
        if found.get("tracked") is not None and only in (None, found["id"]):
            yield found["id"], found["seen"], found["job"], json.dumps(found["tracked"])
