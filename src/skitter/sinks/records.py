"""An item as one line of JSON, in files and in Redis, and the last of those with one identity.

Lines of one item may stand in several places: a page that was fetched again, a version that
changed. The one that was stored last counts, at the place of the first. To find them takes an index
in a temporary database on disk, so that memory does not grow with the number of items.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from json.encoder import encode_basestring as quoted
from typing import TYPE_CHECKING

from skitter.sinks.item import Item
from skitter.sinks.stored import Stored

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from skitter.sinks.rows import Row

AT_ONCE = 1_000

_SCHEMA = """
    CREATE TABLE latest (
      nth INTEGER PRIMARY KEY, id TEXT UNIQUE NOT NULL, place NOT NULL,
      first_seen TEXT NOT NULL, last_seen TEXT NOT NULL
    )
"""
_NOTE = """
    INSERT INTO latest (id, place, first_seen, last_seen) VALUES (?1, ?2, ?3, ?3)
    ON CONFLICT (id) DO UPDATE SET
      place = CASE WHEN ?3 >= last_seen THEN ?2 ELSE place END,
      first_seen = min(first_seen, ?3), last_seen = max(last_seen, ?3)
"""

Noted = tuple[str, int | str, str]
"""An item's id, where its line is, and when that was stored."""


def record_of(row: Row) -> str:
    """A row as JSON, without the end of the line."""
    identity, job, spider, kind, url, data, attrs, worker, _, seen = row
    return (
        f'{{"id":{quoted(identity)},"job":{quoted(job)},"spider":{quoted(spider)}'
        f',"kind":{quoted(kind)},"url":{quoted(url)},"worker":{quoted(worker)}'
        f',"seen":"{seen}","data":{data},"attrs":{attrs}}}'
    )


def stored_of(line: str | bytes, first_seen: str, last_seen: str) -> Stored:
    found = json.loads(line)
    del found["seen"]
    return Stored(Item(**found), first_seen, last_seen)


def latest(noted: Iterable[Noted]) -> Iterator[tuple[int | str, str, str]]:
    """The place of each item's last line, with its first and last time, in the order of firsts."""
    with closing(sqlite3.connect("", isolation_level=None, check_same_thread=False)) as index:
        index.execute(_SCHEMA)
        index.execute("BEGIN")
        index.executemany(_NOTE, noted)
        index.execute("COMMIT")
        found = index.execute("SELECT place, first_seen, last_seen FROM latest ORDER BY nth")
        while rows := found.fetchmany(AT_ONCE):
            yield from rows
