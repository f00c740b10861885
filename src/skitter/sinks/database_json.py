"""JSON as databases take it: without NUL and half characters, and with numbers of 64 bits.

Pages hold such things. Where an item's data has some, what the database can search is a near copy,
and the exact text is stored beside it, so that nothing is lost.
"""

from __future__ import annotations

import json
import re
from typing import Any

# Only a suspicion: the same letters may follow a backslash that is itself escaped.
_SUSPECT = re.compile(r"\\u(?:0000|d[89a-f])", re.IGNORECASE)
_UNWANTED = re.compile("[\x00\ud800-\udfff]")
_LONG_NUMBER = re.compile(r"[0-9]{18}")
_BIGGEST = 2**63


def searchable_text(text: str) -> tuple[str, str | None]:
    """JSON that PostgreSQL's JSONB takes, and the exact text if it is another one."""
    if not _SUSPECT.search(text):
        return text, None
    near = json.dumps(_cleaned(json.loads(text), numbers=False), ensure_ascii=False)
    return near, text


def searchable_value(text: str) -> tuple[Any, str | None]:
    """A value that BSON takes, and the exact text if it is not the same."""
    value = json.loads(text)
    if _SUSPECT.search(text) or _LONG_NUMBER.search(text):
        near = _cleaned(value, numbers=True)
        return near, None if near == value else text
    return value, None


def _cleaned(value: Any, *, numbers: bool) -> Any:
    if isinstance(value, str):
        return _UNWANTED.sub("\ufffd", value)
    if isinstance(value, list):
        return [_cleaned(member, numbers=numbers) for member in value]
    if isinstance(value, dict):
        return {
            _UNWANTED.sub("\ufffd", name): _cleaned(member, numbers=numbers)
            for name, member in value.items()
        }
    too_big = numbers and isinstance(value, int) and not -_BIGGEST <= value < _BIGGEST
    return str(value) if too_big else value
