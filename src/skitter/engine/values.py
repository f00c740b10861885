"""Values of meta and cb_kwargs in a form that msgpack keeps, and back.

Text, numbers, bytes, lists and dictionaries with text keys are stored as they are. A few more kinds
are stored under a tag: `{"~": [kind, content]}`. Items, members of enums and named tuples keep
their class, which is looked up among the modules that are loaded, never imported. All else is
refused, for msgpack would turn it into something similar without a word.
"""

from __future__ import annotations

import sys
from dataclasses import fields as dataclass_fields
from dataclasses import is_dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import TYPE_CHECKING, Any
from uuid import UUID

from itemadapter import ItemAdapter

if TYPE_CHECKING:
    from collections.abc import Callable

TAG = "~"
_PLAIN = frozenset({bool, type(None), float, bytes})
# Text that a parser made, an ordered dictionary and the like are stored as what they stand for.
_BASES = (str, int, float, bytes, dict)
_MOST = 1 << 63


class Unstorable(ValueError):
    """A value that cannot be stored; the text says which and why."""


def store(value: Any) -> Any:
    """The value as msgpack keeps it; the same object where nothing has to change."""
    kind = type(value)
    if kind in _PLAIN:
        return value
    if kind is str:
        return value if value.isascii() else _clean(value)
    if kind is int:
        return value if -_MOST <= value < _MOST else _tagged("int", str(value))
    if kind in _STORED:
        return _STORED[kind](value)
    return _store_by_class(value, kind)


def store_all(values: dict[str, Any]) -> dict[str, Any]:
    """The values of a dictionary; raises Unstorable, which names the key."""
    stored = {}
    for name, value in values.items():
        if not isinstance(name, str):
            raise Unstorable(f"its key {name!r} is no text")
        try:
            stored[name] = store(value)
        except RecursionError:
            raise Unstorable(f"{name!r} is nested without end") from None
        except Unstorable as error:
            raise Unstorable(f"{name!r}: {error}") from None
    return stored


def restore(value: Any) -> Any:
    """The value that `store` was given."""
    kind = type(value)
    if kind is list:
        return [restore(one) for one in value]
    if kind is not dict:
        return value
    if TAG in value:
        name, content = value[TAG]
        return _RESTORED[name](content)
    return {name: restore(one) for name, one in value.items()}


def _clean(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise Unstorable("it holds text with half of a character in it") from None
    return text


def _shown(value: Any) -> str:
    return f"a {type(value).__module__}.{type(value).__qualname__}".replace("a builtins.", "a ")


def _tagged(kind: str, content: Any) -> dict[str, Any]:
    return {TAG: [kind, content]}


def _store_dict(value: dict[Any, Any]) -> dict[str, Any]:
    if TAG not in value and all(type(key) is str for key in value):
        return {key: store(one) for key, one in value.items()}
    return _tagged("dict", [[store(key), store(one)] for key, one in value.items()])


def _store_by_class(value: Any, kind: type) -> Any:
    """Of a class of somebody's own."""
    if ItemAdapter.is_item_class(kind) and not issubclass(kind, dict):
        return _store_item(value)
    if issubclass(kind, Enum):
        if value.name not in kind.__members__:  # flags that are joined have no name
            raise Unstorable(f"it holds {_shown(value)} without a name")
        return _tagged("enum", [*_class_name(kind), value.name])
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):
        return _tagged("named", [*_class_name(kind), [store(one) for one in value]])
    for plain in _BASES:
        if issubclass(kind, plain):
            return store(plain(value))
    raise Unstorable(f"it holds {_shown(value)}")


def _store_item(value: Any) -> dict[str, Any]:
    content = {name: store(one) for name, one in ItemAdapter(value).items()}
    return _tagged("item", [*_class_name(type(value)), content])


def _class_name(kind: type) -> tuple[str, str]:
    if "<locals>" in kind.__qualname__:
        shown = f"{kind.__module__}.{kind.__qualname__}"
        raise Unstorable(f"it holds a {shown}, a class that is made inside a function")
    return kind.__module__, kind.__qualname__


def _class_of(module: str, name: str) -> Any:
    """A class by its name, among the modules that are loaded; None if there is none."""
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return found if isinstance(found, type) else None


def _restore_item(content: list[Any]) -> Any:
    module, name, fields = content
    kind = _class_of(module, name)
    if kind is None or not ItemAdapter.is_item_class(kind):
        raise Unstorable(f"there is no item class {module}.{name}")
    return _made(kind, {key: restore(one) for key, one in fields.items()})


def _restore_enum(content: list[Any]) -> Any:
    module, name, member = content
    kind = _class_of(module, name)
    if kind is None or not issubclass(kind, Enum) or member not in kind.__members__:
        raise Unstorable(f"there is no {module}.{name}.{member}")
    return kind[member]


def _restore_named(content: list[Any]) -> Any:
    module, name, values = content
    kind = _class_of(module, name)
    if kind is None or not issubclass(kind, tuple) or not hasattr(kind, "_make"):
        raise Unstorable(f"there is no named tuple {module}.{name}")
    return kind._make(restore(one) for one in values)


def _made(kind: type, fields: dict[str, Any]) -> Any:
    if not is_dataclass(kind):
        return kind(**fields)
    # Fields that the constructor does not take are set afterwards.
    later = {f.name for f in dataclass_fields(kind) if not f.init} & set(fields)
    item = kind(**{name: value for name, value in fields.items() if name not in later})
    for name in later:
        setattr(item, name, fields[name])
    return item


def _in_list(kind: str) -> Callable[[Any], dict[str, Any]]:
    return lambda value: _tagged(kind, [store(one) for one in value])


def _in_text(kind: str) -> Callable[[Any], dict[str, Any]]:
    return lambda value: _tagged(kind, str(value))


_STORED: dict[type, Callable[[Any], Any]] = {
    list: lambda value: [store(one) for one in value],
    dict: _store_dict,
    tuple: _in_list("tuple"),
    set: _in_list("set"),
    frozenset: _in_list("frozenset"),
    datetime: lambda value: _tagged("datetime", value.isoformat()),
    date: lambda value: _tagged("date", value.isoformat()),
    time: lambda value: _tagged("time", value.isoformat()),
    timedelta: lambda value: _tagged("span", [value.days, value.seconds, value.microseconds]),
    UUID: _in_text("uuid"),
    Decimal: _in_text("decimal"),
}
_RESTORED: dict[str, Callable[[Any], Any]] = {
    "int": int,
    "tuple": lambda content: tuple(restore(one) for one in content),
    "set": lambda content: {restore(one) for one in content},
    "frozenset": lambda content: frozenset(restore(one) for one in content),
    "dict": lambda content: {restore(key): restore(one) for key, one in content},
    "datetime": datetime.fromisoformat,
    "date": date.fromisoformat,
    "time": time.fromisoformat,
    "span": lambda content: timedelta(*content),
    "uuid": UUID,
    "decimal": Decimal,
    "item": _restore_item,
    "enum": _restore_enum,
    "named": _restore_named,
}
