"""An export on its way: written in a thread, sent as it is written, stopped when nobody reads.

Between the two is a short queue: the thread waits when it is full, so memory does not grow with a
slow reader. What fails before the first bytes is told as an error; later, the connection is cut.
"""

from __future__ import annotations

import asyncio
import io
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import IO, TYPE_CHECKING, cast

import structlog

from skitter.access_errors import TooManyAtOnce
from skitter.sinks.forms import WRITERS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable

    from skitter.sinks import Stored
    from skitter.sinks.columns import Selection

log = structlog.get_logger(__name__)

CHUNK, QUEUED = 65_536, 8


class Exports:
    """How many run at once, each in a thread of its own."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.running = 0
        self.threads = ThreadPoolExecutor(most, thread_name_prefix="export")

    def begin(self) -> None:
        if self.running >= self.most:
            raise TooManyAtOnce(most=self.most, what="exports", setting="api.max_exports")
        self.running += 1

    def close(self) -> None:
        self.threads.shutdown(wait=False, cancel_futures=True)


class _Pipe(io.RawIOBase):
    """A file for the writer's thread; what is written comes out of a queue on the loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__()
        self._loop = loop
        self.chunks: asyncio.Queue[bytes | BaseException | None] = asyncio.Queue(QUEUED)
        self.cut = False

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        chunk = bytes(cast("bytes", data))
        self.put(chunk)
        return len(chunk)

    def put(self, chunk: bytes | BaseException | None) -> None:
        """Called by the thread: waits for room; fails when nobody reads any more."""
        if self.cut:
            raise BrokenPipeError
        asyncio.run_coroutine_threadsafe(self.chunks.put(chunk), self._loop).result()
        if self.cut:
            raise BrokenPipeError

    def cut_off(self) -> None:
        """Nobody reads any more: whoever waits for room gets some, and learns of it."""
        self.cut = True
        while not self.chunks.empty():
            self.chunks.get_nowait()


async def exported(
    exports: Exports, form: str, source: Callable[[], Iterable[Stored]], selection: Selection
) -> AsyncIterator[bytes]:
    """The bytes of an export; raises here what fails before there are any."""
    exports.begin()
    pipe = _Pipe(asyncio.get_running_loop())
    writing = asyncio.get_running_loop().run_in_executor(
        exports.threads, _write, pipe, form, source, selection
    )
    writing.add_done_callback(lambda _: _end(exports))
    first = await pipe.chunks.get()
    if isinstance(first, BaseException):
        raise first
    return _rest(pipe, first)


def _end(exports: Exports) -> None:
    exports.running -= 1


async def _rest(pipe: _Pipe, chunk: bytes | BaseException | None) -> AsyncIterator[bytes]:
    try:
        while chunk is not None:
            if isinstance(chunk, BaseException):
                raise chunk
            yield chunk
            chunk = await pipe.chunks.get()
    finally:
        pipe.cut_off()


def _write(
    pipe: _Pipe, form: str, source: Callable[[], Iterable[Stored]], selection: Selection
) -> None:
    """In the thread: the export, then its end or what went wrong."""
    try:
        with suppress(BrokenPipeError):
            buffered = io.BufferedWriter(pipe, CHUNK)
            WRITERS[form](source, cast("IO[bytes]", buffered), selection)
            buffered.flush()
            pipe.put(None)
    except Exception as error:  # noqa: BLE001 - it is raised again where it can be told
        log.warning("the export failed", error=str(error))
        with suppress(BrokenPipeError):
            pipe.put(error)
