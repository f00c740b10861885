"""Items that were not seen for long are deleted, with the history of each: a part at a time.

A part is so many items in the order of arrival, looked at from where the last one ended: there is
no index by when an item was last seen, since each write of an item would have to keep it. An item
that comes again meanwhile stays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from skitter.sinks.rows import time_text
from skitter.sinks.sqlite_file import path_of
from skitter.sinks.sqlite_forgetting import forget_in_file

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from skitter.sinks.paging import Beginning

    Forget = Callable[[str, str, Beginning], tuple[int, str]]


def _sqlite(url: str, before: str, beginning: Beginning) -> tuple[int, str]:
    return forget_in_file(path_of(url), before, beginning)


def _postgres(url: str, before: str, beginning: Beginning) -> tuple[int, str]:
    from skitter.sinks.postgres_forgetting import forget_in_table  # noqa: PLC0415 - an extra

    return forget_in_table(url, before, beginning)


def _mongo(url: str, before: str, beginning: Beginning) -> tuple[int, str]:
    from skitter.sinks.mongo_forgetting import forget_in_collection  # noqa: PLC0415 - an extra

    return forget_in_collection(url, before, beginning)


FORGET: dict[str, Forget] = {
    "sqlite": _sqlite,
    "postgresql": _postgres,
    "postgres": _postgres,
    "mongodb": _mongo,
    "mongodb+srv": _mongo,
}


def can_forget(url: str) -> bool:
    """Whether items of a sink can be deleted; what is in files and feeds is not."""
    return url.partition(":")[0] in FORGET


def forget_items(url: str, before: datetime, beginning: Beginning) -> tuple[int, str]:
    """Delete what a part has that was last seen before a moment: how many, and its end.

    The end is where the next part begins; empty: that was the last, and the next is the first. A
    sink that nobody has written to yet has nothing. Raises SinkError.
    """
    return FORGET[url.partition(":")[0]](url, time_text(before), beginning)
