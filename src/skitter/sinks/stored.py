"""What a sink gives back: an item with its times, and which of them are asked for."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from skitter.sinks.item import Item

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skitter.sinks.conditions import Condition


@dataclass(slots=True)
class Stored:
    """An item as it was found in a sink.

    first_seen and last_seen are when it was first and last stored there, first_job is the job that
    stored it first (`item.job` is the last), and changed_at when its tracked fields last changed;
    without such, when any field did.
    """

    item: Item
    first_seen: str
    last_seen: str
    first_job: str = ""
    changed_at: str = ""

    @classmethod
    def of_row(cls, row: Sequence[Any]) -> Stored:
        """What SQL gives; see SELECTED."""
        (identity, job, spider, kind, url, data, attrs, worker, fetched_at, parser, *times) = row
        item = Item(
            identity,
            job,
            spider,
            url,
            kind,
            json.loads(data),
            worker,
            json.loads(attrs) if attrs != "{}" else {},
            fetched_at,
            parser,
        )
        return cls(item, *times)


SELECTED = (
    *("id", "job", "spider", "kind", "url", "data", "attrs", "worker", "fetched_at", "parser"),
    *("first_seen", "last_seen", "first_job", "changed_at"),
)
"""The columns of a row, as `Stored.of_row` takes them."""


@dataclass(frozen=True, slots=True)
class Change:
    """A change of an item's tracked fields: what they were and became, when, in which job."""

    item: str
    at: str
    job: str
    before: dict[str, Any]
    after: dict[str, Any]


@dataclass(frozen=True)
class Wanted:
    """Which items are asked for; None is any. Times are as sinks write them.

    job is the one that saw an item last. since and until bound when an item was last stored,
    changed_since when it last changed. where are conditions on fields, which all have to hold.
    """

    job: str | None = None
    spider: str | None = None
    kind: str | None = None
    since: str | None = None
    until: str | None = None
    changed_since: str | None = None
    id: str | None = None
    where: tuple[Condition, ...] = field(default=(), kw_only=True)

    def given(self) -> dict[str, Any]:
        """The filters that there are and that a database applies itself, by name."""
        named = (part.name for part in fields(self) if part.name != "where")
        values = ((name, getattr(self, name)) for name in named)
        return {name: value for name, value in values if value is not None}

    def takes(self, found: Stored) -> bool:
        """Whether an item is wanted, for sinks that cannot search."""
        item = found.item
        return (
            self.job in (None, item.job)
            and self.spider in (None, item.spider)
            and self.kind in (None, item.kind)
            and self.id in (None, item.id)
            and (self.since is None or found.last_seen >= self.since)
            and (self.until is None or found.last_seen < self.until)
            and (self.changed_since is None or found.changed_at >= self.changed_since)
            and self.holds(found)
        )

    def holds(self, found: Stored) -> bool:
        """Whether the conditions on fields hold, which no database checks for us."""
        return all(condition.holds(found) for condition in self.where)
