"""Where reading begins, and pages of what is read, for those who show some at a time."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from skitter.errors import BadPlace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

READ_AT_ONCE = 500
_Found = TypeVar("_Found")


@dataclass(frozen=True)
class Beginning:
    """After which place, as a reader gave it (empty: the start); how many to ask for at once."""

    after: str = ""
    at_once: int = READ_AT_ONCE


def page_of(
    read: Callable[[Beginning], Iterator[tuple[str, _Found]]], *, after: str | None, limit: int
) -> tuple[list[_Found], str | None]:
    """What comes after a place, up to a number, and the place to go on from; None: that was all."""
    reader = read(Beginning(after or "", min(limit + 1, READ_AT_ONCE)))
    try:
        found = list(islice(reader, limit + 1))
    except ValueError as error:
        raise BadPlace(place=after) from error
    finally:
        reader.close()  # type: ignore[attr-defined]
    more = found[limit - 1][0] if len(found) > limit else None
    return [one for _, one in found[:limit]], more
