"""What a sink holds: all of it, a page of it, and how it changed."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from skitter.errors import NoHistory, UnknownSink
from skitter.masking import mask_text
from skitter.sinks.files import read_folder, read_folder_history
from skitter.sinks.json_text import to_json
from skitter.sinks.paging import Beginning, page_of
from skitter.sinks.sink import known_schemes
from skitter.sinks.sqlite_file import path_of
from skitter.sinks.sqlite_reading import read_file, read_file_history
from skitter.sinks.stored import Wanted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from skitter.sinks.item import Item
    from skitter.sinks.stored import Change, Stored

    Items = Iterator[tuple[str, Stored]]
    Changes = Iterator[tuple[str, Change]]
    ReadItems = Callable[[str, Wanted, Beginning], Items]
    ReadChanges = Callable[[str, dict[str, Any], Beginning], Changes]


def _sqlite(url: str, wanted: Wanted, beginning: Beginning) -> Items:
    return read_file(path_of(url), wanted, beginning)


def _redis(url: str, wanted: Wanted, beginning: Beginning) -> Items:
    from skitter.sinks.redis_feed import read_feed  # noqa: PLC0415 - not loaded where not used

    return read_feed(url, wanted, beginning)


def _postgres(url: str, wanted: Wanted, beginning: Beginning) -> Items:
    from skitter.sinks.postgres_reading import read_table  # noqa: PLC0415 - it comes with an extra

    return read_table(url, wanted, beginning)


def _mongo(url: str, wanted: Wanted, beginning: Beginning) -> Items:
    from skitter.sinks.mongo_reading import read_collection  # noqa: PLC0415 - the same

    return read_collection(url, wanted, beginning)


def _sqlite_history(url: str, given: dict[str, Any], beginning: Beginning) -> Changes:
    return read_file_history(path_of(url), given, beginning)


def _postgres_history(url: str, given: dict[str, Any], beginning: Beginning) -> Changes:
    from skitter.sinks.postgres_reading import read_table_history  # noqa: PLC0415 - the same

    return read_table_history(url, given, beginning)


def _mongo_history(url: str, given: dict[str, Any], beginning: Beginning) -> Changes:
    from skitter.sinks.mongo_reading import read_collection_history  # noqa: PLC0415 - the same

    return read_collection_history(url, given, beginning)


def _no_history(url: str, _given: dict[str, Any], _beginning: Beginning) -> Changes:
    raise NoHistory(sink=mask_text(url))


READERS: dict[str, tuple[ReadItems, ReadChanges]] = {
    "sqlite": (_sqlite, _sqlite_history),
    "jsonl": (read_folder, read_folder_history),
    "csv": (read_folder, read_folder_history),
    "parquet": (read_folder, read_folder_history),
    "postgresql": (_postgres, _postgres_history),
    "postgres": (_postgres, _postgres_history),
    "mongodb": (_mongo, _mongo_history),
    "mongodb+srv": (_mongo, _mongo_history),
    "redis": (_redis, _no_history),
    "rediss": (_redis, _no_history),
    "unix": (_redis, _no_history),
}


def read_stored(place: str | Path, wanted: Wanted | None = None) -> Iterator[Stored]:
    """The items in a sink, by its URL, or in a file of the SQLite sink, by its path.

    They come in the order in which each was first stored, with their times, one page of them in
    memory at a time.
    """
    read, _ = _readers(place)
    return (found for _, found in read(_url(place), wanted or Wanted(), Beginning()))


def read_page(
    place: str | Path, wanted: Wanted | None = None, *, after: str | None = None, limit: int = 100
) -> tuple[list[Stored], str | None]:
    """Some of the items, in the same order, and where the next page begins; None: that was all.

    after is what the page before gave. Databases go there by an index; files and feeds are read
    from their beginning.
    """
    read, _ = _readers(place)
    return page_of(partial(read, _url(place), wanted or Wanted()), after=after, limit=limit)


def read_history(
    place: str | Path,
    *,
    item: str | None = None,
    job: str | None = None,
    since: str | None = None,
) -> Iterator[Change]:
    """The changes of tracked fields in the order in which they came."""
    _, read = _readers(place)
    given = {"item": item, "job": job, "since": since}
    given = {name: value for name, value in given.items() if value is not None}
    return (found for _, found in read(_url(place), given, Beginning()))


def read_items(
    place: str | Path, *, job: str | None = None, kind: str | None = None
) -> Iterator[Item]:
    """The items alone, without their times."""
    return (found.item for found in read_stored(place, Wanted(job=job, kind=kind)))


def export_items(items: Iterable[Item], out: IO[str], *, whole: bool = False) -> int:
    """Write items as JSON lines and say how many: their data, or all that is known of them."""
    count = 0
    for item in items:
        out.write(to_json(item.as_dict() if whole else item.data, url=item.url) + "\n")
        count += 1
    return count


def _url(place: str | Path) -> str:
    return str(place) if isinstance(place, str) and ":" in place else f"sqlite:{place}"


def _readers(place: str | Path) -> tuple[ReadItems, ReadChanges]:
    scheme, _, _ = _url(place).partition(":")
    if scheme not in READERS:
        reason = f"its scheme {scheme!r} is not known"
        raise UnknownSink(url=mask_text(str(place)), reason=reason, known=known_schemes())
    return READERS[scheme]
