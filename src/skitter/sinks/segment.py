"""A file of lines that one process appends to, and that has its name only when it is whole.

While it grows it ends in `.part`, and its writer keeps a lock on it. The last line of each commit
ends with a blank, which JSON does not mind: what stands after the last such line was never told to
be durable. So a file that a dead writer left behind is cut there, and then gets its name.
"""

from __future__ import annotations

import fcntl
import os
import time
from contextlib import suppress
from typing import TYPE_CHECKING, BinaryIO

from skitter.sinks.durable import sync_folder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PART = ".part"
LAST_LINE = b" \n"
_BLOCK = 1 << 20


class Segment:
    """Used by one thread. size is what is committed, begun when it was opened (monotonic)."""

    def __init__(self, path: Path) -> None:
        """Begin a file. Raises BlockingIOError where another one sees to a file of this name."""
        self._path = path
        self._part = path.with_name(path.name + PART)
        self._file = os.open(self._part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o644)
        self.size = 0
        self.begun = time.monotonic()
        try:
            self._lock()
            sync_folder(path.parent)
        except BaseException:
            os.close(self._file)
            raise

    def _lock(self) -> None:
        """Keep others from taking it for a dead writer's, as one may have done already."""
        fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not self.is_there():
            raise BlockingIOError(f"{self._part} was cleared away")

    def is_there(self) -> bool:
        """Whether the name still leads to this file."""
        try:
            return self._part.stat().st_ino == os.fstat(self._file).st_ino
        except FileNotFoundError:
            return False

    def append(self, lines: list[str]) -> None:
        """Write lines, which count when they are synced."""
        rest = memoryview("\n".join(lines).encode() + LAST_LINE)
        while rest:
            rest = rest[os.write(self._file, rest) :]

    def sync(self) -> None:
        """Make what was written durable."""
        os.fdatasync(self._file)
        self.size = os.fstat(self._file).st_size

    def undo(self) -> None:
        """Take back what was written and not synced."""
        with suppress(OSError):
            os.ftruncate(self._file, self.size)

    def finish(self) -> None:
        """Give it its name; an empty one is removed."""
        try:
            if self.is_there():
                _name(self._part, self.size)
        finally:
            os.close(self._file)


def recover(part: Path) -> None:
    """Finish what a dead writer left behind; a living one's file is left alone."""
    try:
        file = os.open(part, os.O_RDWR)
    except FileNotFoundError:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        with part.open("rb") as lines:
            size = committed_size(lines)
        os.ftruncate(file, size)
        os.fsync(file)
        _name(part, size)
    except (BlockingIOError, FileNotFoundError):
        return
    finally:
        os.close(file)


def committed_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """The offset and the text of each line that is committed, whether or not it is finished."""
    with open_segment(path) as lines:
        end = committed_size(lines)
        lines.seek(0)
        offset = 0
        while offset < end:
            line = lines.readline()
            yield offset, line
            offset += len(line)


def open_segment(path: Path) -> BinaryIO:
    """Open a segment by its name, or by the one that it has while it grows."""
    try:
        return path.open("rb")
    except FileNotFoundError:
        with suppress(FileNotFoundError):
            return path.with_name(path.name + PART).open("rb")
        return path.open("rb")  # it was finished in between


def committed_size(lines: BinaryIO) -> int:
    """Where the last commit ends: it is looked for from the end of the file."""
    end = lines.seek(0, os.SEEK_END)
    while end > 0:
        begin = max(0, end - _BLOCK)
        lines.seek(begin)
        found = lines.read(end - begin).rfind(LAST_LINE)
        if found >= 0:
            return begin + found + len(LAST_LINE)
        end = begin + 1 if begin else 0  # the mark may lie across two blocks
    return 0


def _name(part: Path, size: int) -> None:
    if size:
        part.rename(part.with_name(part.name.removesuffix(PART)))
    else:
        part.unlink()
    sync_folder(part.parent)
