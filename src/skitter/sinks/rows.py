"""An item as the texts that every sink stores: names, times, and its data and attrs as JSON."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from skitter.errors import UnstorableItem
from skitter.sinks.json_text import to_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skitter.sinks.item import Item

COLUMNS = (
    "id",
    "job",
    "spider",
    "kind",
    "url",
    "data",
    "attrs",
    "worker",
    "first_seen",
    "last_seen",
)
Row = tuple[str, ...]
"""The texts in the order of COLUMNS."""


def now_text() -> str:
    """The time as sinks have it: UTC, in text that sorts as time does."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def row_of(item: Item, now: str = "") -> Row:
    """An item as a row; raises UnstorableItem. now is the time, for those who have it at hand."""
    now = now or now_text()
    names = (item.id, item.job, item.spider, item.kind, item.url)
    data = to_json(item.data, url=item.url)
    attrs = to_json(item.attrs, url=item.url) if item.attrs else "{}"
    if not (all(map(str.isascii, names)) and item.worker.isascii()):
        _check_encodes(item)
    return (*names, data, attrs, item.worker, now, now)


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
