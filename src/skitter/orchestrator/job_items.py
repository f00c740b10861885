"""What a sink has of a job; nothing, where nothing was ever stored."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skitter.sinks import Wanted, read_stored
from skitter.sinks.files import FORMS, Place
from skitter.sinks.sqlite_file import SCHEME, path_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skitter.sinks import Stored


def is_there(sink: str) -> bool:
    """Whether a sink in files was ever written to; one on a server always is there."""
    if sink.startswith(SCHEME):
        return path_of(sink).exists()
    return not is_folder(sink) or Place.of_url(sink).raw.is_dir()


def is_folder(sink: str) -> bool:
    """Whether a sink is a folder of files, to be finalised at a job's end."""
    return sink.partition(":")[0] in FORMS


def stored_of(sink: str, job: str) -> Iterator[Stored]:
    """A job's items, one page of them in memory at a time."""
    if is_there(sink):
        yield from read_stored(sink, Wanted(job=job))
