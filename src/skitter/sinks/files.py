"""Items in files: `jsonl:FOLDER`, `csv:FOLDER`, `parquet:FOLDER`.

Whatever the form, items are first kept as lines of JSON in segments under `raw`, for only lines can
be made durable one put at a time, and they lose nothing. `finalise` makes one file of a job's
segments under `processed`, in the form that the URL names: each item once, the last one of equals.
Any number of processes may write to one folder.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from skitter.errors import SinkError, UnknownSink
from skitter.sinks.gathering import Gathering, end
from skitter.sinks.records import changes, latest, noted, stored_of
from skitter.sinks.segment import committed_lines, open_segment
from skitter.sinks.segments import Rotation, Segments, folder_name, segments_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import BinaryIO, Self

    from skitter.sinks.item import Item
    from skitter.sinks.paging import Beginning
    from skitter.sinks.records import Noted
    from skitter.sinks.rows import Row
    from skitter.sinks.stored import Change, Stored, Wanted

FORMS = ("jsonl", "csv", "parquet")
DEFAULT_FOLDER = "data"
_OFFSET_BITS = 40
_KNOWN = "jsonl:data, csv:/var/lib/items?segment_mb=64&segment_s=600"


@dataclass(frozen=True)
class Place:
    """What a URL names: a form, a folder, and when segments are finished."""

    form: str
    folder: Path
    rotation: Rotation

    @property
    def name(self) -> str:
        return f"{self.form}:{self.folder}"

    @property
    def raw(self) -> Path:
        return self.folder / "raw"

    def processed(self, job: str) -> Path:
        """The file of a finalised job."""
        return self.folder / "processed" / f"{folder_name(job)}.{self.form}"

    @classmethod
    def of_url(cls, url: str) -> Self:
        form, _, rest = url.partition(":")
        folder, _, query = rest.partition("?")
        if folder.startswith("//"):
            reason = "its folder is written without slashes before it"
            raise UnknownSink(url=url, reason=reason, known=_KNOWN)
        return cls(form, Path(folder or DEFAULT_FOLDER).absolute(), _rotation(url, query))


def _rotation(url: str, query: str) -> Rotation:
    given, usual = dict(parse_qsl(query, keep_blank_values=True)), Rotation()
    try:
        size = int(float(given.pop("segment_mb", usual.size / 1024**2)) * 1024**2)
        rotation = Rotation(size, float(given.pop("segment_s", usual.seconds)))
    except ValueError as error:
        raise UnknownSink(url=url, reason=str(error), known=_KNOWN) from error
    if given:
        raise UnknownSink(url=url, reason=f"it has an unknown part {min(given)}", known=_KNOWN)
    return rotation


class FilesSink:
    """Segments in a folder, written by one thread."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._segments = Segments(place.name, place.raw, place.rotation)
        self._gathering = Gathering(place.name, self._commit)
        self._thread: ThreadPoolExecutor | None = None
        self._rotating: asyncio.Task[None] | None = None

    @classmethod
    def from_url(cls, url: str) -> Self:
        return cls(Place.of_url(url))

    @property
    def commits(self) -> int:
        """How often the disk was synced; puts at the same time share one."""
        return self._gathering.commits

    async def open(self) -> None:
        """Make the folder, and finish what dead writers left in it."""
        if self._thread is not None:
            return
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="files-sink")
        try:
            await self._in_thread(self._segments.open)
        except SinkError:
            self._let_go()
            raise
        self._gathering.open()
        self._rotating = asyncio.create_task(self._rotate(), name="files-sink rotation")

    async def put(self, items: Sequence[Item]) -> None:
        """Append items to segments, and sync them to the disk."""
        await self._gathering.put(items)

    async def close(self) -> None:
        """Write what waits, and give every segment its name."""
        if self._thread is None:
            return
        await self._gathering.close()
        await end(self._rotating)
        if self._thread is not None:
            await self._in_thread(self._segments.close)
            self._let_go()

    async def _commit(self, rows: list[Row]) -> None:
        await self._in_thread(lambda: self._segments.write(rows))

    async def _rotate(self) -> None:
        """Finish segments in time, also when nothing is put any more."""
        while True:
            await asyncio.sleep(min(self._place.rotation.seconds, 10))
            await self._in_thread(self._segments.rotate)

    async def _in_thread(self, step: Callable[[], None]) -> None:
        await asyncio.get_running_loop().run_in_executor(self._thread, step)

    def _let_go(self) -> None:
        if self._thread is not None:
            self._thread.shutdown(wait=False)
            self._thread = None


def read_folder(url: str, wanted: Wanted, beginning: Beginning) -> Iterator[tuple[str, Stored]]:
    """The items of a folder, each once, while others may write to it."""
    found = _read(_paths(url, wanted.job))
    for number, stored in islice(enumerate(found), int(beginning.after or -1) + 1, None):
        if wanted.takes(stored):
            yield str(number), stored


def read_folder_history(
    url: str, given: dict[str, Any], beginning: Beginning
) -> Iterator[tuple[str, Change]]:
    """The changes in a folder: it has every version of an item, each in a line of its own."""
    found = changes(_lines(_paths(url, None)), **given)
    for number, change in islice(enumerate(found), int(beginning.after or -1) + 1, None):
        yield str(number), change


def _paths(url: str, job: str | None) -> list[Path]:
    place = Place.of_url(url)
    if not place.raw.is_dir():
        raise SinkError(sink=place.name, reason="there is no such folder")
    jobs = [path.name for path in place.raw.iterdir()] if job is None else [folder_name(job)]
    return segments_of(place.raw, jobs)


def _lines(paths: list[Path]) -> Iterator[bytes]:
    for path in paths:
        for _, line in committed_lines(path):
            yield line


def _read(paths: list[Path]) -> Iterator[Stored]:
    current, file = -1, None
    try:
        for at, *times in latest(_noted(paths)):
            number, offset = divmod(int(at), 1 << _OFFSET_BITS)
            if file is None or number != current:
                file = _reopened(file, paths[number])
                current = number
            file.seek(offset)
            yield stored_of(file.readline(), *times)
    finally:
        if file is not None:
            file.close()


def _reopened(file: BinaryIO | None, path: Path) -> BinaryIO:
    if file is not None:
        file.close()
    return open_segment(path)


def _noted(paths: list[Path]) -> Iterator[Noted]:
    for number, path in enumerate(paths):
        for offset, line in committed_lines(path):
            yield noted(line, (number << _OFFSET_BITS) + offset)
