"""Places in listings that go by time and id, the newest first: a page goes on after one (a keyset).

What is added or removed meanwhile moves nothing: nothing is met twice, and what stays is met.
"""

from __future__ import annotations

from skitter.service_errors import BadCursor

Place = tuple[int, str]
"""When (ms), and the id that decides between those of one time."""


def place_text(ms: int, name: str) -> str:
    """A place as it is told and given back."""
    return f"{ms}~{name}"


def read_place(text: str) -> Place:
    """The place that a text names; raises BadCursor."""
    ms, tilde, name = text.partition("~")
    if not (ms.isdecimal() and ms.isascii() and len(ms) < 16 and tilde and name):
        raise BadCursor(cursor=repr(text[:100]))
    return int(ms), name
