"""The table of items: its form, and the way of an item into it and out of it."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from skitter.errors import UnstorableItem
from skitter.sinks.item import Item
from skitter.sinks.json_text import to_json

if TYPE_CHECKING:
    from collections.abc import Iterator

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
# One statement for each filter, since the planner would use no index for an optional one.
_PAGE = """
    SELECT rowid, id, job, spider, url, kind, data, worker, attrs FROM items
    WHERE rowid > :after {filters} ORDER BY rowid LIMIT :count
"""
_BY_JOB, _BY_KIND = "AND job = :job", "AND kind = :kind"
SELECTS = {
    (False, False): _PAGE.format(filters=""),
    (True, False): _PAGE.format(filters=_BY_JOB),
    (False, True): _PAGE.format(filters=_BY_KIND),
    (True, True): _PAGE.format(filters=f"{_BY_JOB} {_BY_KIND}"),
}

Row = tuple[str, ...]
StoredRow = tuple[int, str, str, str, str, str, str, str, str]


def now_text() -> str:
    """The time as the table has it: UTC, in text that sorts as time does."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def row_of(item: Item) -> Row:
    """An item as the columns of the table; raises UnstorableItem."""
    now = now_text()
    names = (item.id, item.job, item.spider, item.kind, item.url)
    data, attrs = to_json(item.data, url=item.url), to_json(item.attrs, url=item.url)
    row = (*names, data, attrs, item.worker, now, now)
    if not all(text.isascii() for text in (*names, item.worker)):
        _check_encodes(item)
    return row


def item_of(row: StoredRow) -> Item:
    """The item of a row that one of the selects gave."""
    _, identity, job, spider, url, kind, data, worker, attrs = row
    return Item(identity, job, spider, url, kind, json.loads(data), worker, json.loads(attrs))


def _check_encodes(item: Item) -> None:
    for name, text in _texts(item):
        try:
            text.encode()
        except UnicodeEncodeError as error:
            reason = "has half of a character in it"
            raise UnstorableItem(url=ascii(item.url), field=name, reason=reason) from error


def _texts(item: Item) -> Iterator[tuple[str, str]]:
    for name in ("id", "job", "spider", "kind", "url", "worker"):
        yield name, getattr(item, name)
