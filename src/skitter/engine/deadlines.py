"""Bounds on how long fetches may take, all of a fetcher's on one timer.

`asyncio.timeout` sets and cancels a timer of the loop for each: nearly all of them for nothing, at
a cost that shows in a fast crawl. Here a deadline is a note in a heap, and the loop is asked to
ring for the earliest alone. Like `asyncio.timeout`, it cancels the task and then raises
TimeoutError in its place.
"""

from __future__ import annotations

import asyncio
from heapq import heapify, heappop, heappush
from itertools import count
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from types import TracebackType

SPARE = 1_000
LEAST_S = 0.001


class Deadlines:
    """Those of one fetcher, in one event loop."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, Deadline]] = []
        self._numbers = count()
        self._running = 0
        self._rings_at = 0.0
        self._bell: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        """How many notes there are, with those of blocks that are over."""
        return len(self._heap)

    def within(self, seconds: float) -> Deadline:
        """`with deadlines.within(30):` the block may take so long; 0 is for ever."""
        return Deadline(self, seconds)

    def close(self) -> None:
        """Ring no more."""
        if self._bell:
            self._bell.cancel()

    def note(self, deadline: Deadline, ends_at: float) -> None:
        """A deadline begins, or begins again."""
        heappush(self._heap, (ends_at, next(self._numbers), deadline))
        if self._bell is None or ends_at < self._rings_at:
            self._set_bell(ends_at)

    def begun(self) -> None:
        """One more is running."""
        self._running += 1

    def over(self) -> None:
        """One less is. Its note stays until its time comes, unless such notes become too many."""
        self._running -= 1
        if len(self._heap) > 2 * self._running + SPARE:
            self._heap = [note for note in self._heap if note[2].ends_at == note[0]]
            heapify(self._heap)

    def _set_bell(self, at: float) -> None:
        if self._bell:
            self._bell.cancel()
        self._rings_at = at
        self._bell = asyncio.get_running_loop().call_at(at, self._ring)

    def _ring(self) -> None:
        self._bell = None
        now, heap = asyncio.get_running_loop().time(), self._heap
        while heap:
            ends_at, _, deadline = heap[0]
            valid = deadline.ends_at == ends_at
            if valid and ends_at > now:
                self._set_bell(ends_at)
                return
            heappop(heap)
            if valid:
                deadline.expire()


class Deadline:
    """One block's. ends_at: when it has to be over by the loop's clock, None if that is open."""

    __slots__ = ("_all", "_cancelling", "_expired", "_left_s", "_loop", "_task", "ends_at")
    _loop: asyncio.AbstractEventLoop
    _task: asyncio.Task[object]
    _cancelling: int

    def __init__(self, deadlines: Deadlines, seconds: float) -> None:
        self._all = deadlines
        self._left_s = seconds
        self._expired = False
        self.ends_at: float | None = None

    def __enter__(self) -> Self:
        self._loop = asyncio.get_running_loop()
        task = asyncio.current_task(self._loop)
        assert task is not None  # noqa: S101 - fetches run in tasks
        self._task, self._cancelling = task, task.cancelling()
        self._all.begun()
        self.go_on()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.ends_at, task = None, self._task
        del self._task  # the note of this may stay for long
        self._all.over()
        uncancelled = self._expired and task.uncancel() <= self._cancelling
        if uncancelled and kind is asyncio.CancelledError:
            raise TimeoutError from error

    def halt(self) -> None:
        """The clock stands still."""
        if self.ends_at is not None:
            self._left_s = max(LEAST_S, self.ends_at - self._loop.time())
            self.ends_at = None

    def go_on(self) -> None:
        """It runs again, with as much time left as there was."""
        if self._left_s and self.ends_at is None and not self._expired:
            self.ends_at = self._loop.time() + self._left_s
            self._all.note(self, self.ends_at)

    def expire(self) -> None:
        """The time is over: the block is told to end."""
        self.ends_at = None
        self._expired = True
        self._task.cancel()
