"""Items in an SQLite file, written by one thread of its own.

Each `put` waits in a queue; the thread takes all that wait at once and writes them in one
transaction, so that many small puts share one sync of the disk. What is wrong with one put is that
one's error: where a transaction is refused for what is in it, its puts are written one by one.
The queue holds no more than the tasks that wait in `put`.
"""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from skitter.errors import SinkError, SinkRefused
from skitter.sinks.rows import Row, now_text, row_of
from skitter.sinks.sqlite_file import SqliteFile, path_of
from skitter.sinks.views import Declared

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from typing import Self

    from skitter.sinks.item import Item

MERGED_ITEMS = 10_000
PATIENCE_S = 30.0


@dataclass(slots=True, eq=False)
class _Put:
    items: Sequence[Item]
    done: Future[None] = field(default_factory=Future)


class SqliteSink:
    """A table `items` in a file. Several processes may write to the same file.

    patience_s is how long a put waits for other writers. commits counts the transactions, which
    concurrent puts share.
    """

    def __init__(self, path: Path, *, patience_s: float = PATIENCE_S) -> None:
        self._file = SqliteFile(path, patience_s=patience_s)
        self._queue: SimpleQueue[_Put | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._ended: Future[None] = Future()
        self._declared = Declared()
        self.commits = 0

    @classmethod
    def from_url(cls, url: str) -> Self:
        """The sink of `sqlite:PATH`."""
        return cls(path_of(url))

    async def open(self) -> None:
        """Open the file, and make it and its table where they are missing."""
        if self._thread is not None:
            return
        opened: Future[None] = Future()
        self._ended = Future()
        self._thread = threading.Thread(
            target=self._run, args=(opened,), name="sqlite-sink", daemon=True
        )
        self._thread.start()
        try:
            await asyncio.wrap_future(opened)
        except SinkError:
            self._thread = None
            raise

    async def put(self, items: Sequence[Item]) -> None:
        """Store items in a transaction that is synced to the disk before this returns."""
        if self._thread is None:
            raise SinkError(sink=self._file.name, reason="it is not open")
        if items:
            put = _Put(items)
            self._queue.put(put)
            await asyncio.wrap_future(put.done)

    async def close(self) -> None:
        """Write what waits, then close the file."""
        if self._thread is None:
            return
        self._thread = None
        self._queue.put(None)
        await asyncio.wrap_future(self._ended)

    def _run(self, opened: Future[None]) -> None:
        """The thread: the file is opened, written and closed here and nowhere else."""
        try:
            self._file.open()
        except Exception as error:  # noqa: BLE001 - whoever waits has to hear of it
            opened.set_exception(_told(self._file.name, error))
            return
        opened.set_result(None)
        while puts := self._next_puts():
            self._write(puts)
        self._file.close()
        self._ended.set_result(None)

    def _next_puts(self) -> list[_Put]:
        """Wait for a put, and take all those that came with it; none: the end."""
        first = self._queue.get()
        puts = [first] if first else []
        count = len(first.items) if first else MERGED_ITEMS
        while count < MERGED_ITEMS:
            try:
                put = self._queue.get_nowait()
            except Empty:
                break
            if put is None:  # the end comes after these
                self._queue.put(None)
                break
            puts.append(put)
            count += len(put.items)
        return puts

    def _write(self, puts: list[_Put]) -> None:
        readable = [(put, rows) for put in puts if (rows := self._rows(put)) is not None]
        if not readable:
            return
        try:
            self._commit([row for _, rows in readable for row in rows])
        except SinkRefused as error:
            if len(readable) > 1:
                for put, rows in readable:
                    self._write_alone(put, rows)
            else:
                readable[0][0].done.set_exception(error)
        except Exception as error:  # noqa: BLE001 - the same
            for put, _ in readable:
                put.done.set_exception(_told(self._file.name, error))
        else:
            for put, _ in readable:
                put.done.set_result(None)

    def _write_alone(self, put: _Put, rows: list[Row]) -> None:
        try:
            self._commit(rows)
        except Exception as error:  # noqa: BLE001 - the same
            put.done.set_exception(_told(self._file.name, error))
        else:
            put.done.set_result(None)

    def _commit(self, rows: list[Row]) -> None:
        self._file.declare(self._declared.take())
        self._file.write(rows)
        self.commits += 1

    def _rows(self, put: _Put) -> list[Row] | None:
        """A put's rows; None if nobody waits for it any more, or it cannot be stored."""
        if not put.done.set_running_or_notify_cancel():
            return None
        try:
            now = now_text()
            self._declared.notice(put.items)
            return [row_of(item, now) for item in put.items]
        except Exception as error:  # noqa: BLE001 - the same
            put.done.set_exception(_told(self._file.name, error))
            return None


def _told(sink: str, error: Exception) -> SinkError:
    """Any error as one of a sink's."""
    return error if isinstance(error, SinkError) else SinkError(sink=sink, reason=repr(error))
