"""Many small puts in one commit, for the sinks that are written from the event loop.

Each `put` turns its items into rows, waits in a queue, and is told how it went. One task takes all
that wait and commits them together. What is wrong with one put is that one's error: where a commit
is refused for what is in it, its puts are committed one by one. The queue holds no more than the
tasks that wait in `put`.
"""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from skitter.errors import SinkError, SinkRefused
from skitter.sinks.rows import Row, now_text, row_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from skitter.sinks.item import Item

MERGED_ITEMS = 10_000
AT_A_STRETCH = 500  # how many items become rows before other tasks have their turn


@dataclass(slots=True, eq=False)
class _Put:
    rows: list[Row]
    done: asyncio.Future[None] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )

    def fail(self, error: Exception) -> None:
        if not self.done.done():
            self.done.set_exception(error)

    def succeed(self) -> None:
        if not self.done.done():
            self.done.set_result(None)


class Gathering:
    """Puts on their way to `commit`, which stores all rows or none and raises a SinkError.

    commits counts the calls of it that went well.
    """

    def __init__(
        self, name: str, commit: Callable[[list[Row]], Awaitable[None]], *, most: int = MERGED_ITEMS
    ) -> None:
        self._name = name
        self._commit_rows = commit
        self._most = most
        self._queue: deque[_Put] = deque()
        self._work = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._under_way = 0
        self.commits = 0

    @property
    def is_open(self) -> bool:
        return self._task is not None

    def open(self) -> None:
        """Begin to commit."""
        self._work.clear()
        self._task = asyncio.create_task(self._run(), name=f"sink {self._name}")

    async def put(self, items: Sequence[Item]) -> None:
        """Have items committed; raises what came of it."""
        if self._task is None:
            raise SinkError(sink=self._name, reason="it is not open")
        if not items:
            return
        self._under_way += 1
        try:
            put = _Put(await _rows_of(items))
            self._queue.append(put)
            self._work.set()
            await put.done
        finally:
            self._under_way -= 1
            self._work.set()

    async def close(self) -> None:
        """Commit what waits, and end."""
        task, self._task = self._task, None
        if task is not None:
            self._work.set()
            await task

    async def _run(self) -> None:
        while self._task is not None or self._under_way:
            await self._work.wait()
            self._work.clear()
            while puts := self._next_puts():
                await self._write(puts)

    def _next_puts(self) -> list[_Put]:
        """All that wait, up to a bound; those that nobody waits for any more are left out."""
        puts: list[_Put] = []
        count = 0
        while self._queue and count < self._most:
            put = self._queue.popleft()
            if not put.done.cancelled():
                puts.append(put)
                count += len(put.rows)
        return puts

    async def _write(self, puts: list[_Put]) -> None:
        error = await self._commit([row for put in puts for row in put.rows])
        if isinstance(error, SinkRefused) and len(puts) > 1:
            for put in puts:
                await self._write([put])
            return
        for put in puts:
            put.fail(error) if error else put.succeed()

    async def _commit(self, rows: list[Row]) -> SinkError | None:
        """Commit; the error, if there was one. A row that comes twice is committed once."""
        try:
            await self._commit_rows(list({row.id: row for row in rows}.values()))
        except SinkError as error:
            return error
        except Exception as error:  # noqa: BLE001 - whoever waits has to hear of it
            return SinkError(sink=self._name, reason=repr(error))
        self.commits += 1
        return None


async def _rows_of(items: Sequence[Item]) -> list[Row]:
    now, rows = now_text(), []
    for begin in range(0, len(items), AT_A_STRETCH):
        if begin:
            await asyncio.sleep(0)
        rows += [row_of(item, now) for item in items[begin : begin + AT_A_STRETCH]]
    return rows


async def end(task: asyncio.Task[None] | None) -> None:
    """Cancel a loop, and wait until it is gone."""
    if task is not None:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
