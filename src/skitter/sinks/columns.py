"""Items as flat records for people and programs: an item's fields, then where it came from.

What Skitter knows of an item stands beside its fields under names with a leading underscore
(`_url`, `_job`), so that neither hides the other. Tables have a column for each field that any item
has, and its type is one that holds them all; what is nested becomes JSON text there.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from skitter.sinks.views import ORIGINS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from skitter.sinks.stored import Stored

_TOLD_BY_SINK = {"first_seen", "last_seen", "first_job", "changed_at"}
_BIGGEST = 2**63
_TYPES = {type(None): "null", bool: "bool", float: "float", str: "text"}


@dataclass(frozen=True)
class Selection:
    """Which fields are exported: those named, a dot leading into nested ones, or all."""

    fields: Sequence[str] = ()
    bare: bool = False

    def record(self, found: Stored) -> dict[str, Any]:
        """An item as one flat object."""
        if self.fields:
            whole = flat_record(found)
            return {name: pick(whole, name) for name in self.fields}
        return flat_record(found, bare=self.bare)


def flat_record(found: Stored, *, bare: bool = False) -> dict[str, Any]:
    """An item's fields, and beside them where it came from."""
    record = dict(found.item.data)
    if not bare:
        for name in ORIGINS:
            holder = found if name in _TOLD_BY_SINK else found.item
            record[f"_{name}"] = getattr(holder, name)
    return record


def pick(record: Any, path: str) -> Any:
    """A field by its name, or by a path such as `offers.0.price`; None if there is none."""
    if isinstance(record, dict) and path in record:
        return record[path]
    name, dot, rest = path.partition(".")
    if isinstance(record, list) and name.isdecimal():
        record = {str(number): member for number, member in enumerate(record)}
    if not dot or not isinstance(record, dict):
        return record.get(name) if isinstance(record, dict) else None
    return pick(record.get(name), rest)


@dataclass
class Columns:
    """The columns of a table: names in the order in which they came up, each with its type.

    A type is one of `null`, `bool`, `int`, `float`, `text`; what does not fit in one of the others
    is text.
    """

    types: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, records: Iterable[dict[str, Any]]) -> Columns:
        """Look at every record: the fields first, then where items came from."""
        found: dict[str, str] = {}
        for record in records:
            for name, value in record.items():
                kind = _TYPES.get(type(value)) or _type(value)
                old = found.get(name, "null")
                if old != kind:
                    found[name] = _both(old, kind)
        origins = {f"_{name}" for name in ORIGINS}
        names = sorted(found, key=lambda name: name in origins)
        return cls({name: found[name] for name in names})

    def cells(self, record: dict[str, Any]) -> list[Any]:
        """A record's values, each of its column's type."""
        return [_cell(record.get(name), kind) for name, kind in self.types.items()]


def _type(value: Any) -> str:
    fits = isinstance(value, int) and -_BIGGEST <= value < _BIGGEST
    return "int" if fits else "text"


def _both(old: str, new: str) -> str:
    if new in (old, "null"):
        return old
    if old == "null":
        return new
    return "float" if {old, new} == {"int", "float"} else "text"


def _cell(value: Any, kind: str) -> Any:
    if value is None or type(value) is str:
        return value
    if kind == "float":
        return float(value)
    if kind == "text":
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return value
