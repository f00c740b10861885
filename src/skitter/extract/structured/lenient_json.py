"""JSON as pages hold it: strict if it is, repaired where the repair is certain, else refused."""

from __future__ import annotations

import html
import json
import re
from decimal import Decimal
from typing import Any

LONGEST_JSON = 4 << 20
LONGEST_REPAIR = 1 << 20
_WRAPPING = re.compile(
    r"\A\s*(?:<!--|//\s*<!\[CDATA\[|/\*\s*<!\[CDATA\[\s*\*/|<!\[CDATA\[)|"
    r"(?:-->|//\s*\]\]>|/\*\s*\]\]>\s*\*/|\]\]>|;)\s*\Z"
)
# chompjs reads past the end of a text that stops before a value, and finds whatever lies there in
# memory. A mark behind the text is what it finds instead, and what ends a comment there.
_END_MARK = "\uf8ff-no-end-\uf8ff"
_END = f"\n*/{_END_MARK}}}]"


class BrokenJson(ValueError):
    """Why a text cannot be read as JSON."""


def load_json(text: str) -> Any:
    """The value of a JSON text. Numbers with decimals are Decimal, and exact."""
    if len(text) > LONGEST_JSON:
        raise BrokenJson(f"it is longer than {LONGEST_JSON >> 20} MiB")
    try:
        return _strict(text)
    except (ValueError, RecursionError) as error:
        first = error
    bare = _WRAPPING.sub("", _WRAPPING.sub("", text)).strip()
    for candidate in dict.fromkeys((bare, html.unescape(bare))):
        try:
            return _strict(candidate)
        except (ValueError, RecursionError):
            continue
    return _repaired(bare, first)


def _strict(text: str) -> Any:
    return json.loads(text, strict=False, parse_float=Decimal, parse_constant=lambda _: None)


def _repaired(text: str, error: Exception) -> Any:
    """Trailing commas, comments, single quotes, bare keys: what JavaScript would have read."""
    if (
        isinstance(error, RecursionError)
        or len(text) > LONGEST_REPAIR
        or text[:1] not in ("{", "[")
    ):
        raise BrokenJson(_said(error)) from error
    try:
        return load_object(text)
    except ValueError:
        raise BrokenJson(_said(error)) from error


def load_object(text: str) -> Any:
    """The JavaScript object or array that a text begins with."""
    import chompjs  # noqa: PLC0415 - few pages need it

    try:
        return chompjs.parse_js_object(f"{text}{_END}", loader=_whole)
    except RecursionError as error:
        raise BrokenJson("it is nested too deeply") from error


def _whole(text: str) -> Any:
    """What chompjs made of a text, unless it had to read on past the text's end."""
    if _END_MARK in text:
        raise BrokenJson("it has no end")
    return _strict(text)


def _said(error: Exception) -> str:
    return (
        "it is nested too deeply"
        if isinstance(error, RecursionError)
        else f"it is no JSON: {error}"
    )
