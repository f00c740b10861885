"""The one place where the values of items become JSON, for every sink and for identities.

What JSON has a form for is kept as it is. Dates and times become ISO 8601 text, a timedelta its
seconds, a Decimal, a UUID or a path its text, an Enum its value, bytes the text that they spell in
UTF-8 or else a `data:` URL in base64, sets lists in a fixed order, other mappings and nested items
(Scrapy's, dataclasses, attrs, pydantic models) objects of their fields. All else, and numbers that
JSON has no form for (nan, inf), is an error that names the field. docs/items.md says the same.
orjson writes what it writes as we do; what it does not take, the standard library is asked for.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections import deque
from collections.abc import Iterable, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import PurePath
from typing import Any
from uuid import UUID

import orjson
from itemadapter import ItemAdapter

from skitter.errors import UnstorableItem

DEEPEST = 100
_KEYS = (str, int, float, type(None))
_UNREADABLE = (TypeError, ValueError, RecursionError)
_LISTS = (list, tuple)
_WITHOUT_NUMBERS = (str, int, Decimal, date, time, UUID)
_PLAIN = orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_PASSTHROUGH_DATACLASS


def to_json(value: Any, *, url: str, sort_keys: bool = False) -> str:
    """A value as JSON; raises UnstorableItem, which names the field of the item of `url`."""
    try:
        text = orjson.dumps(value, _convert, _PLAIN | orjson.OPT_SORT_KEYS if sort_keys else _PLAIN)
        # It writes null for nan.
        if b"null" not in text or _is_finite(value):
            return text.decode()
    except orjson.JSONEncodeError:
        pass
    return _to_json_slowly(value, url=url, sort_keys=sort_keys)


def _to_json_slowly(value: Any, *, url: str, sort_keys: bool) -> str:
    """What has long numbers, half characters, or keys that are no text; or an error to tell."""
    try:
        return _dumps(value, sort_keys=sort_keys)
    except _UNREADABLE as error:
        if sort_keys and (plain := _plain(value)) is not None:
            return _dumps(plain, sort_keys=True)
        field, reason = _culprit(value, "") or ("(all of it)", f"has no form in JSON: {error}")
        raise UnstorableItem(url=url, field=field, reason=reason) from error


def _is_finite(value: Any) -> bool:
    """Whether a value that could be written has no number without a form in it; else unknown."""
    if isinstance(value, float):
        return value - value == 0
    if isinstance(value, dict):
        return all(map(_is_finite, value.values()))
    if isinstance(value, _LISTS):
        return all(map(_is_finite, value))
    return value is None or isinstance(value, _WITHOUT_NUMBERS)


def _dumps(value: Any, *, sort_keys: bool = False) -> str:
    text = (_SORTED if sort_keys else _AS_GIVEN).encode(value)
    return text if _is_clean(text) else json.dumps(json.loads(text), sort_keys=sort_keys)


def _is_clean(text: str) -> bool:
    """Whether it can be encoded; half a character, as pages may hold, has to be escaped."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _plain(value: Any) -> Any:
    """The same with text for keys, since keys of several types cannot be put in order."""
    try:
        return json.loads(_dumps(value))
    except _UNREADABLE:
        return None


def _convert(value: Any) -> Any:
    """What stands for a value that JSON has no form for."""
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, Decimal | UUID | PurePath):
        return str(value)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, bytes | bytearray | memoryview):
        return _bytes_text(bytes(value))
    return _convert_container(value)


def _convert_container(value: Any) -> Any:
    if isinstance(value, set | frozenset):
        return sorted(value, key=lambda member: _dumps(member, sort_keys=True))
    if isinstance(value, deque | tuple):
        return list(value)
    if isinstance(value, Mapping):
        return dict(value)
    if ItemAdapter.is_item(value):
        return dict(ItemAdapter(value))
    raise TypeError(f"it is of type {type(value).__name__}")


def _bytes_text(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return f"data:;base64,{b64encode(value).decode()}"


def _encoder(*, sort_keys: bool) -> json.JSONEncoder:
    return json.JSONEncoder(
        default=_convert,
        ensure_ascii=False,
        allow_nan=False,
        sort_keys=sort_keys,
        separators=(",", ":"),
    )


# Made once: an item would else pay for the making of two.
_SORTED, _AS_GIVEN = _encoder(sort_keys=True), _encoder(sort_keys=False)


def _culprit(value: Any, path: str, depth: int = 0) -> tuple[str, str] | None:
    """The path of what cannot be stored, and what is wrong with it."""
    if depth > DEEPEST:
        return f"{path[:60]}…", "is nested too deeply, or holds itself"
    try:
        value = value if isinstance(value, str | int | float | None) else _opened(value)
        if not isinstance(value, dict | list | tuple):
            _dumps(value)
    except _UNREADABLE as error:
        return path or "(all of it)", f"has no form in JSON: {error}"
    for name, member in _members(value):
        if not isinstance(name, _KEYS):
            return f"{path}.{name!r}".lstrip("."), "has a name that is no text"
        found = _culprit(member, f"{path}.{name}".lstrip("."), depth + 1)
        if found:
            return found
    return None


def _opened(value: Any) -> Any:
    """A container as a dict or a list, or any other value converted."""
    return value if isinstance(value, dict | list | tuple) else _convert(value)


def _members(value: Any) -> Iterable[tuple[Any, Any]]:
    if isinstance(value, dict):
        return value.items()
    return enumerate(value) if isinstance(value, list | tuple) else ()
