"""What a sink gives back: an item with its times, and which of them are asked for."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from skitter.sinks.item import Item

if TYPE_CHECKING:
    from skitter.sinks.rows import Row


@dataclass(slots=True)
class Stored:
    """An item as it was found in a sink, with when it was first and last stored there."""

    item: Item
    first_seen: str
    last_seen: str

    @classmethod
    def of_row(cls, row: Row) -> Stored:
        identity, job, spider, kind, url, data, attrs, worker, first_seen, last_seen = row
        item = Item(identity, job, spider, url, kind, json.loads(data), worker, json.loads(attrs))
        return cls(item, first_seen, last_seen)


@dataclass(frozen=True)
class Wanted:
    """Which items are asked for; None is any. since is a time as sinks write it."""

    job: str | None = None
    spider: str | None = None
    kind: str | None = None
    since: str | None = None

    def given(self) -> dict[str, Any]:
        """The filters that there are, by name."""
        values = ((field.name, getattr(self, field.name)) for field in fields(self))
        return {name: value for name, value in values if value is not None}

    def takes(self, found: Stored) -> bool:
        item = found.item
        return (
            self.job in (None, item.job)
            and self.spider in (None, item.spider)
            and self.kind in (None, item.kind)
            and (self.since is None or found.last_seen >= self.since)
        )
