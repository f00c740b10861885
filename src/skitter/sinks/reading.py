"""What a sink holds, for tests and for export."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import IO, TYPE_CHECKING

from skitter.errors import UnknownSink
from skitter.masking import mask_text
from skitter.sinks.files import read_folder
from skitter.sinks.json_text import to_json
from skitter.sinks.sink import known_schemes
from skitter.sinks.sqlite_file import path_of, read_file
from skitter.sinks.stored import Wanted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from skitter.sinks.item import Item
    from skitter.sinks.stored import Stored


def _sqlite(url: str, wanted: Wanted) -> Iterator[Stored]:
    return read_file(path_of(url), wanted)


def _redis(url: str, wanted: Wanted) -> Iterator[Stored]:
    from skitter.sinks.redis_feed import read_feed  # noqa: PLC0415 - not loaded where not used

    return read_feed(url, wanted)


def _postgres(url: str, wanted: Wanted) -> Iterator[Stored]:
    from skitter.sinks.postgres import read_database  # noqa: PLC0415 - it comes with an extra

    return read_database(url, wanted)


def _mongo(url: str, wanted: Wanted) -> Iterator[Stored]:
    from skitter.sinks.mongo import read_collection  # noqa: PLC0415 - it comes with an extra

    return read_collection(url, wanted)


READERS: dict[str, Callable[[str, Wanted], Iterator[Stored]]] = {
    "sqlite": _sqlite,
    "jsonl": read_folder,
    "csv": read_folder,
    "parquet": read_folder,
    "postgresql": _postgres,
    "postgres": _postgres,
    "mongodb": _mongo,
    "mongodb+srv": _mongo,
    "redis": _redis,
    "rediss": _redis,
    "unix": _redis,
}


def read_stored(place: str | Path, wanted: Wanted | None = None) -> Iterator[Stored]:
    """The items in a sink, by its URL, or in a file of the SQLite sink, by its path.

    They come in the order in which each was first stored, with their times, one page of them in
    memory at a time.
    """
    wanted = wanted or Wanted()
    scheme, colon, _ = str(place).partition(":")
    if isinstance(place, Path) or not colon:
        return read_file(Path(place), wanted)
    if scheme not in READERS:
        reason = f"its scheme {scheme!r} is not known"
        raise UnknownSink(url=mask_text(str(place)), reason=reason, known=known_schemes())
    return READERS[scheme](str(place), wanted)


def read_items(
    place: str | Path, *, job: str | None = None, kind: str | None = None
) -> Iterator[Item]:
    """The same without their times."""
    return (found.item for found in read_stored(place, Wanted(job=job, kind=kind)))


def export_items(items: Iterable[Item], out: IO[str], *, whole: bool = False) -> int:
    """Write items as JSON lines and say how many: their data, or all that is known of them."""
    count = 0
    for item in items:
        out.write(to_json(asdict(item) if whole else item.data, url=item.url) + "\n")
        count += 1
    return count
