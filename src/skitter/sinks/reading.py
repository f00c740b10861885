"""What a sink holds, for tests and for export."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import IO, TYPE_CHECKING

from skitter.errors import UnknownSink
from skitter.masking import mask_text
from skitter.sinks.json_text import to_json
from skitter.sinks.sink import known_schemes
from skitter.sinks.sqlite_file import path_of, read_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from skitter.sinks.item import Item

READERS: dict[str, Callable[..., Iterator[Item]]] = {
    "sqlite": lambda url, **only: read_file(path_of(url), **only)
}


def read_items(
    place: str | Path, *, job: str | None = None, kind: str | None = None
) -> Iterator[Item]:
    """The items in a sink, by its URL, or in a file of the SQLite sink, by its path.

    They come in the order in which each was first stored, one page of them in memory at a time.
    """
    scheme, colon, _ = str(place).partition(":")
    if isinstance(place, Path) or not colon:
        return read_file(Path(place), job=job, kind=kind)
    if scheme not in READERS:
        reason = f"its scheme {scheme!r} is not known"
        raise UnknownSink(url=mask_text(str(place)), reason=reason, known=known_schemes())
    return READERS[scheme](place, job=job, kind=kind)


def export_items(items: Iterable[Item], out: IO[str], *, whole: bool = False) -> int:
    """Write items as JSON lines and say how many: their data, or all that is known of them."""
    count = 0
    for item in items:
        out.write(to_json(asdict(item) if whole else item.data, url=item.url) + "\n")
        count += 1
    return count
