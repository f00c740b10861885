"""What a class of items says of them: which fields it has, of which types, and which are tracked.

It is read once for each class, from whatever may be an item: dataclasses, attrs, pydantic models,
Scrapy items (by `type` or `serializer` in a field's metadata), and any class that names one of
these as its `item_model`. `tracked_fields` names the fields whose changes are kept; a spider may
name them for items whose class does not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from functools import lru_cache
from pathlib import PurePath
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints
from uuid import UUID

from itemadapter import ItemAdapter

MOST_COLUMNS, LONGEST_NAME = 200, 60
# The first that fits counts: a bool is an int, a datetime is a date.
_TYPES: tuple[tuple[type | tuple[type, ...], str], ...] = (
    (bool, "boolean"),
    (int, "integer"),
    ((float, Decimal, timedelta), "numeric"),
    (datetime, "timestamptz"),
    ((str, bytes, date, time, UUID, PurePath), "text"),
)


@dataclass(frozen=True, eq=False, slots=True)
class Shape:
    """The fields of a kind of item with their types, and those that are tracked.

    A type is one of text, numeric, integer, boolean, timestamptz and json.
    """

    kind: str
    columns: Mapping[str, str]
    tracked: tuple[str, ...] = ()


@lru_cache(maxsize=1024)
def shape_of(kind: type, tracked: tuple[str, ...] = ()) -> Shape | None:
    """The shape of a class's items, or None where it says nothing. tracked: unless it says."""
    columns = _columns(getattr(kind, "item_model", None) or kind)
    told = tuple(getattr(kind, "tracked_fields", ())) or tracked
    return Shape(kind.__name__, columns, told) if columns or told else None


def _columns(model: type) -> dict[str, str]:
    names = ItemAdapter.get_field_names_from_class(model) or ()
    hints = _hints(model)
    found: dict[str, str] = {}
    for name in names:
        # Names that a database folds into one are one column.
        if _usable(name) and name.lower() not in {other.lower() for other in found}:
            found[name] = type_of(hints.get(name, _told(model, name)))
    return dict(list(found.items())[:MOST_COLUMNS])


def _usable(name: str) -> bool:
    plain = name.isidentifier() and name.isascii() and not name.startswith("_")
    return plain and len(name) <= LONGEST_NAME


def _hints(model: type) -> dict[str, Any]:
    try:
        return get_type_hints(model)
    except Exception:  # noqa: BLE001 - names that only a type checker knows, of anyone's class
        return {}


def _told(model: type, name: str) -> Any:
    """The type in a field's metadata; a serializer is often one."""
    told = ItemAdapter.get_field_meta_from_class(model, name)
    return told.get("type") or told.get("serializer")


def type_of(told: Any) -> str:
    """The column's type for an annotation; text where it says nothing."""
    origin = get_origin(told)
    if origin is Annotated:
        return type_of(get_args(told)[0])
    if origin in (Union, UnionType):
        return _common({type_of(part) for part in get_args(told) if part is not NoneType})
    if origin is Literal:
        return _common({type_of(type(value)) for value in get_args(told)})
    told = origin or told
    return _type_of_class(told) if isinstance(told, type) else "text"


def _type_of_class(told: type) -> str:
    if told.__name__.endswith("Datetime") and told.__module__.startswith("pydantic"):
        return "timestamptz"  # AwareDatetime and the like are no datetimes to Python
    if issubclass(told, Enum):
        return _common({type_of(type(member.value)) for member in told})
    for types, name in _TYPES:
        if issubclass(told, types):
            return name
    return "json" if told is not object and _holds_others(told) else "text"


def _holds_others(told: type) -> bool:
    containers = (list, tuple, set, frozenset, Mapping)
    return issubclass(told, containers) or ItemAdapter.is_item_class(told)


def _common(types: set[str]) -> str:
    """One type for values of several."""
    if len(types) == 1:
        return types.pop()
    return "numeric" if types == {"integer", "numeric"} else "text"
