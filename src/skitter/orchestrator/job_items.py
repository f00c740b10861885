"""What a sink has of a job; nothing, where nothing was ever stored."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skitter.sinks import Wanted, read_stored
from skitter.sinks.sqlite_file import SCHEME, path_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skitter.sinks import Stored


def stored_of(sink: str, job: str) -> Iterator[Stored]:
    """A job's items, one page of them in memory at a time."""
    if not sink.startswith(SCHEME) or path_of(sink).exists():
        yield from read_stored(sink, Wanted(job=job))
