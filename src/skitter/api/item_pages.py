"""Pages of items, read from a sink's beginning: the place is how many came before."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from skitter.service_errors import BadCursor
from skitter.sinks import Wanted, read_stored

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skitter.sinks import Stored

_FILES = frozenset({"sqlite", "jsonl", "csv", "parquet"})


def read_all(place: str, wanted: Wanted) -> Iterator[Stored]:
    """All items of a sink; none, where nothing has been stored yet."""
    scheme, _, path = place.partition(":")
    if scheme in _FILES and not Path(path).exists():
        return iter(())
    return read_stored(place, wanted)


def read_page(
    place: str, wanted: Wanted, *, after: str | None, limit: int
) -> tuple[list[Stored], str | None]:
    """Some of the items, and where the next page begins; None: that was all."""
    if after is not None and not (after.isascii() and after.isdecimal() and len(after) < 16):
        raise BadCursor(cursor=after)
    first = int(after or 0)
    found = list(islice(read_all(place, wanted), first, first + limit + 1))
    following = str(first + limit) if len(found) > limit else None
    return found[:limit], following
