"""Seeds from arguments, files and standard input, in groups, with bounded memory.

A file may be a pipe that nobody writes to for a while. It is read in a thread that never waits for
long, so that whoever reads can stop at any time; an empty group says that there was nothing new.
Blank lines and lines that begin with # are passed over.
"""

from __future__ import annotations

import asyncio
import os
import select
from typing import TYPE_CHECKING

from skitter.jobs.seeds import Defaults, Seed, seed_of_line

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Sequence
    from pathlib import Path

CHUNK = 1 << 16
WAIT_S = 0.2
STDIN = "-"
_BOM = b"\xef\xbb\xbf"


async def seeds_of_urls(
    urls: Sequence[str], defaults: Defaults
) -> AsyncGenerator[list[Seed], None]:
    """Seeds of a command's arguments."""
    yield [
        seed_of_line(url.strip(), defaults, source="argument", number=number)
        for number, url in enumerate(urls, 1)
    ]


async def seeds_of_file(
    path: Path, defaults: Defaults, *, longest: int, on_read: Callable[[int], None]
) -> AsyncGenerator[list[Seed], None]:
    """Seeds of a file's lines, or of standard input's for `-`; on_read is told of bytes read.

    longest bounds a line, in bytes. A file that cannot be read (on) is a seed with the reason.
    """
    name = "stdin" if str(path) == STDIN else str(path)
    lines = Lines(longest)
    try:
        async for chunk in _chunks(path):
            on_read(len(chunk or b""))
            found = lines.split(chunk) if chunk is not None else ()
            yield [_seed(name, number, line, defaults) for number, line in found]
    except OSError as error:
        yield [Seed(name, lines.number, reason=f"it cannot be read: {error.strerror}")]
    else:
        yield [_seed(name, number, line, defaults) for number, line in lines.end()]


class Lines:
    """Bytes as they come → lines with their numbers; None stands for one that is too long."""

    def __init__(self, longest: int) -> None:
        self.number = 0
        self._longest = longest
        self._rest = b""
        self._too_long = False

    def split(self, chunk: bytes) -> Iterator[tuple[int, bytes | None]]:
        """The lines that end in this chunk, without the blank ones and the comments."""
        *whole, rest = (self._rest + chunk).split(b"\n")
        for line in whole:
            yield from self._take(line)
            self._too_long = False
        self._too_long = self._too_long or len(rest) > self._longest
        self._rest = b"" if self._too_long else rest

    def end(self) -> Iterator[tuple[int, bytes | None]]:
        """The last line, if it had no end."""
        if self._rest or self._too_long:
            yield from self._take(self._rest)

    def _take(self, line: bytes) -> Iterator[tuple[int, bytes | None]]:
        self.number += 1
        if self._too_long or len(line) > self._longest:
            yield self.number, None
            return
        line = (line.removeprefix(_BOM) if self.number == 1 else line).strip()
        if line and not line.startswith(b"#"):
            yield self.number, line


def _seed(source: str, number: int, line: bytes | None, defaults: Defaults) -> Seed:
    if line is None:
        return Seed(source, number, reason="the line is too long")
    try:
        text = line.decode()
    except UnicodeDecodeError:
        shown = line[:200].decode("utf-8", "replace")
        return Seed(source, number, reason="the line is not UTF-8", text=shown)
    return seed_of_line(text, defaults, source=source, number=number)


async def _chunks(path: Path) -> AsyncIterator[bytes | None]:
    """A file's bytes as they come; None while nothing does."""
    is_stdin = str(path) == STDIN
    file = 0 if is_stdin else await asyncio.to_thread(os.open, path, os.O_RDONLY)
    try:
        while (chunk := await asyncio.to_thread(_read, file)) != b"":
            yield chunk
    finally:
        if not is_stdin:
            os.close(file)


def _read(file: int) -> bytes | None:
    """What there is to read, or None if nothing came in a while."""
    ready, _, _ = select.select([file], [], [], WAIT_S)
    try:
        return os.read(file, CHUNK) if ready else None
    except BlockingIOError:
        return None
