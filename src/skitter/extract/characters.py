"""One spelling for the characters that mean the same: digits, spaces, signs, marks.

Digits of every script become 0 to 9, all spaces one kind, every minus `-`. What cannot be seen
(direction marks, zero-width characters, soft hyphens) goes away.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

SPACES = "\t\n\v\f\r\x1c\x1d\x1e\x1f\x85\xa0\u1680\u180e\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)
INVISIBLE = "\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u200b\u200c\u200d\u200e\u200f\u2060\ufeff" + (
    "".join(map(chr, [*range(0x202A, 0x202F), *range(0x2061, 0x2065), *range(0x2066, 0x2070)]))
)
_MINUS = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u02d7\u207b\u2796\ufe58\ufe63\uff0d"
_PLUS = "\u207a\u2795\ufe62\uff0b"
_PERCENT = "\u066a\ufe6a\uff05"
_APOSTROPHES = "\u2018\u2019\u02bc\u02b9\u2032\u00b4\u0060\uff07"
_OTHERS = {
    "\uff0e": ".",
    "\uff0c": ",",
    "\uff1a": ":",
    "\uff0f": "/",
    "\u2044": "/",
    "\u2215": "/",
    "\uff08": "(",
    "\uff09": ")",
    "\uff0b": "+",
    "\uff04": "$",
    "\ufe69": "$",
    "\uffe1": "£",
    "\uffe5": "¥",
    "\uffe6": "₩",
    "\uffe0": "¢",
    "\u060c": ",",
}

_PAST_DIGITS = 0x20000  # no script of Unicode has digits further up


@lru_cache(maxsize=1)
def _plain() -> dict[int, str]:
    """The table for str.translate; made when first needed, for the scan takes a while."""
    table: dict[int, str] = {ord(char): " " for char in SPACES}
    table |= {ord(char): "" for char in INVISIBLE}
    table |= {ord(char): "-" for char in _MINUS}
    table |= {ord(char): "+" for char in _PLUS}
    table |= {ord(char): "%" for char in _PERCENT}
    table |= {ord(char): "'" for char in _APOSTROPHES}
    table |= {ord(char): plain for char, plain in _OTHERS.items()}
    table |= {
        code: str(unicodedata.decimal(chr(code)))
        for code in range(0x80, _PAST_DIGITS)
        if unicodedata.category(chr(code)) == "Nd"
    }
    return table


_SPACES = {ord(char): " " for char in SPACES}
_SEEN = _SPACES | {ord(char): "" for char in INVISIBLE}


def plain(text: str) -> str:
    """A text in plain characters, with single spaces, for whatever reads numbers in it."""
    if not text.isascii():
        text = text.translate(_plain())
    return " ".join(text.split())


def visible(text: str) -> str:
    """A text as it is seen: one kind of space, nothing invisible; all else as it was."""
    return text.translate(_SPACES if text.isascii() else _SEEN)
