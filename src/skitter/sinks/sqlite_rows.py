"""The tables of items in SQLite: their form, and the statements that write and read them.

A trigger notes each change of an item's tracked fields, so that it is kept in the transaction that
makes it, whoever makes it.
"""

from __future__ import annotations

from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, Any

from skitter.sinks.rows import Row
from skitter.sinks.stored import SELECTED

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from skitter.sinks.stored import Wanted

SCHEMA = (
    """
    CREATE TABLE IF NOT EXISTS items (
      id TEXT PRIMARY KEY NOT NULL,
      job TEXT NOT NULL,
      spider TEXT NOT NULL,
      kind TEXT NOT NULL,
      url TEXT NOT NULL,
      data TEXT NOT NULL,
      attrs TEXT NOT NULL,
      worker TEXT NOT NULL,
      first_seen TEXT NOT NULL,
      last_seen TEXT NOT NULL,
      fetched_at TEXT NOT NULL DEFAULT '',
      parser TEXT NOT NULL DEFAULT '',
      first_job TEXT NOT NULL DEFAULT '',
      changed_at TEXT NOT NULL DEFAULT '',
      tracked TEXT
    )
    """,
    "CREATE INDEX IF NOT EXISTS items_job ON items (job)",
    """
    CREATE TABLE IF NOT EXISTS history (
      item TEXT NOT NULL,
      at TEXT NOT NULL,
      job TEXT NOT NULL,
      before TEXT NOT NULL,
      after TEXT NOT NULL
    )
    """,
    "CREATE INDEX IF NOT EXISTS history_item ON history (item)",
    """
    CREATE TABLE IF NOT EXISTS item_columns (
      kind TEXT NOT NULL, name TEXT NOT NULL, type TEXT NOT NULL, position INTEGER NOT NULL,
      PRIMARY KEY (kind, name)
    )
    """,
    """
    CREATE TRIGGER IF NOT EXISTS items_history AFTER UPDATE ON items
    WHEN new.tracked <> old.tracked
    BEGIN
      INSERT INTO history (item, at, job, before, after)
      VALUES (new.id, new.last_seen, new.job, old.tracked, new.tracked);
    END
    """,
)
# What tables of earlier versions lack.
ADDED = {
    "fetched_at": "TEXT NOT NULL DEFAULT ''",
    "parser": "TEXT NOT NULL DEFAULT ''",
    "first_job": "TEXT NOT NULL DEFAULT ''",
    "changed_at": "TEXT NOT NULL DEFAULT ''",
    "tracked": "TEXT",
}

# Others keep tables in the same file, so that its user_version says nothing of ours.
IS_WHOLE = """
    SELECT (SELECT count(*) FROM pragma_table_info('items') WHERE name = 'tracked')
      + (SELECT count(*) FROM sqlite_master
         WHERE name IN ('history', 'item_columns', 'items_history'))
"""
PARTS = 4

# Without tracked fields on either side, any field that differs is a change.
_UPSERT = """
    WITH given (id, job, spider, kind, url, data, attrs, worker, fetched_at, parser, tracked, seen)
      AS (VALUES {rows})
    INSERT INTO items (id, job, spider, kind, url, data, attrs, worker, fetched_at, parser, tracked,
      first_seen, last_seen, first_job, changed_at)
    SELECT *, seen, job, seen FROM given WHERE true
    ON CONFLICT (id) DO UPDATE SET
      changed_at = CASE WHEN coalesce(excluded.tracked <> tracked, excluded.data <> data)
        THEN excluded.last_seen ELSE changed_at END,
      job = excluded.job, spider = excluded.spider, kind = excluded.kind, url = excluded.url,
      data = excluded.data, attrs = excluded.attrs, worker = excluded.worker,
      fetched_at = excluded.fetched_at, parser = excluded.parser, tracked = excluded.tracked,
      last_seen = excluded.last_seen
"""
_ROW = f"({', '.join('?' * len(Row._fields))})"
_MOST_ROWS = 64
_SHORT_CHARS = 8192

# Read in pages, each a short transaction: a long one would keep the log from being put away.
# A statement for each set of filters, since the planner would use no index for an optional one.
_PAGE = """
    SELECT rowid, {columns} FROM items
    WHERE rowid > :after {filters} ORDER BY rowid LIMIT :count
"""
_FILTERS = {
    "id": "AND id = :id",
    "job": "AND job = :job",
    "spider": "AND spider = :spider",
    "kind": "AND kind = :kind",
    "since": "AND last_seen >= :since",
    "until": "AND last_seen < :until",
    "changed_since": "AND changed_at >= :changed_since",
}
_CHANGES = """
    SELECT rowid, item, at, job, before, after FROM history
    WHERE rowid > :after {filters} ORDER BY rowid LIMIT :count
"""
_CHANGE_FILTERS = {
    "item": "AND item = :item",
    "job": "AND job = :job",
    "since": "AND at >= :since",
}
StoredRow = tuple[Any, ...]
"""A rowid, then the columns of a Stored."""


def upsert(connection: sqlite3.Connection, rows: Sequence[Row]) -> None:
    """Write rows, many with each statement: around each one Python hands its lock to and fro.

    A statement that is kept for the next time keeps its last values too: long ones go one by one.
    """
    done, long = 0, max((len(row.data) + len(row.attrs) for row in rows), default=0)
    most = _MOST_ROWS if long <= _SHORT_CHARS else 1
    while left := len(rows) - done:
        # Few sizes, each a power of two, so that SQLite's statements are prepared once.
        count = min(most, 1 << left.bit_length() - 1)
        connection.execute(_statement(count), [*chain.from_iterable(rows[done : done + count])])
        done += count


@cache
def _statement(count: int) -> str:
    return _UPSERT.format(rows=", ".join([_ROW] * count))


def select_page(wanted: Wanted) -> str:
    """The statement for one page of what is wanted."""
    filters = " ".join(_FILTERS[name] for name in wanted.given())
    return _PAGE.format(columns=", ".join(SELECTED), filters=filters)


def select_changes(given: dict[str, Any]) -> str:
    """The statement for one page of changes."""
    return _CHANGES.format(filters=" ".join(_CHANGE_FILTERS[name] for name in given))
