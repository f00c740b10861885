"""The table of items in SQLite: its form, and the statements that write and read it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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
      last_seen TEXT NOT NULL
    )
    """,
    "CREATE INDEX IF NOT EXISTS items_job ON items (job)",
)

UPSERT = """
    INSERT INTO items (id, job, spider, kind, url, data, attrs, worker, first_seen, last_seen)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (id) DO UPDATE SET
      job = excluded.job, spider = excluded.spider, kind = excluded.kind, url = excluded.url,
      data = excluded.data, attrs = excluded.attrs, worker = excluded.worker,
      last_seen = excluded.last_seen
"""

# Read in pages, each a short transaction: a long one would keep the log from being put away.
# A statement for each set of filters, since the planner would use no index for an optional one.
_PAGE = """
    SELECT rowid, id, job, spider, kind, url, data, attrs, worker, first_seen, last_seen FROM items
    WHERE rowid > :after {filters} ORDER BY rowid LIMIT :count
"""
_FILTERS = {
    "job": "AND job = :job",
    "spider": "AND spider = :spider",
    "kind": "AND kind = :kind",
    "since": "AND last_seen >= :since",
}
StoredRow = tuple[Any, ...]
"""A rowid, then the columns of a Row."""


def select_page(wanted: Wanted) -> str:
    """The statement for one page of what is wanted."""
    return _PAGE.format(filters=" ".join(_FILTERS[name] for name in wanted.given()))
