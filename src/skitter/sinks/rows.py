"""An item as the texts that every sink stores: names, times, and its data and attrs as JSON."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from skitter.errors import UnstorableItem
from skitter.sinks.json_text import to_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skitter.sinks.item import Item


class Row(NamedTuple):
    """An item's texts. tracked has the values of its tracked fields, if there are such."""

    id: str
    job: str
    spider: str
    kind: str
    url: str
    data: str
    attrs: str
    worker: str
    fetched_at: str
    parser: str
    tracked: str | None
    seen: str


def time_text(moment: datetime) -> str:
    """A time as sinks have it: UTC, in text that sorts as time does."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def now_text() -> str:
    """The time now, as sinks have it."""
    return time_text(datetime.now(UTC))


def clock_text(monotonic: float) -> str:
    """A reading of the monotonic clock as a time; none (0) is no text."""
    if not monotonic:
        return ""
    at_ms = int((time.time() - (time.monotonic() - monotonic)) * 1000)
    return f"{_second_text(at_ms // 1000)}.{at_ms % 1000:03}Z"


@lru_cache(maxsize=8)
def _second_text(second: int) -> str:
    """The beginning that many readings have in common."""
    return datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def row_of(item: Item, now: str = "") -> Row:
    """An item as a row; raises UnstorableItem. now is the time, for those who have it at hand."""
    url = item.url
    data = to_json(item.data, url=url)
    attrs = to_json(item.attrs, url=url) if item.attrs else "{}"
    names = (item.id, item.job, item.spider, item.kind, url)
    beside = (item.worker, item.fetched_at, item.parser)
    if not "".join((*names, *beside)).isascii():
        _check_encodes(item)
    # Not by its constructor, which takes twice the time.
    return Row._make((*names, data, attrs, *beside, _tracked(item), now or now_text()))


def _tracked(item: Item) -> str | None:
    """The tracked fields that have a value: none and null are the same."""
    if item.shape is None or not item.shape.tracked:
        return None
    data = item.data
    names = [name for name in item.shape.tracked if data.get(name) is not None]
    return to_json({name: data[name] for name in names}, url=item.url)


def _check_encodes(item: Item) -> None:
    for name, text in _texts(item):
        try:
            text.encode()
        except UnicodeEncodeError as error:
            reason = "has half of a character in it"
            raise UnstorableItem(url=ascii(item.url), field=name, reason=reason) from error


def _texts(item: Item) -> Iterator[tuple[str, str]]:
    for name in ("id", "job", "spider", "kind", "url", "worker", "fetched_at", "parser"):
        yield name, getattr(item, name)
