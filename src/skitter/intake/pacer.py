"""When each page that is held comes due.

A host with a delay gives one batch: its pages come due one at a time, the next one a delay after
the head of the response before it. Pages of other hosts are due at once; the frontier gave no more
of them than may run together. One timer of the loop serves all hosts.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import TYPE_CHECKING

import structlog

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from skitter.intake.lane import Lane
    from skitter.intake.page import Page

log = structlog.get_logger(__name__)


@dataclass(slots=True, eq=False)
class Batch:
    """What is held of a host with a delay, seen from one address.

    out is the page that is due or being fetched: at most one. A delay only grows.
    """

    host: tuple[str, str]
    delay_s: float = 0.0
    last_head_at: float = 0.0
    out: Page | None = None
    pages: deque[Page] = field(default_factory=deque)
    timed: bool = False

    @property
    def due_at(self) -> float:
        return self.last_head_at + self.delay_s if self.last_head_at else 0.0


class Pacer:
    """Moves pages to their lanes' queues when they come due, and wakes the lanes."""

    def __init__(self) -> None:
        self._batches: dict[tuple[str, str], Batch] = {}
        self._timed: list[tuple[float, int, Batch]] = []
        self._serial = 0
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at = 0.0
        self._to_wake: set[Lane] = set()

    def offer(self, pages: Iterable[Page]) -> None:
        """Take pages that were leased just now: each host may be asked once at once."""
        batches = dict.fromkeys(self._place(page) for page in pages)
        for batch in batches:
            if batch:
                self._advance(batch)

    def turn_over(self, page: Page) -> None:
        """A page's fetch is over, or will not be: the host's next one comes due after its delay."""
        batch = page.batch
        if batch is None or batch.out is not page:
            return
        batch.out = None
        batch.last_head_at = max(batch.last_head_at, page.head_at)
        batch.delay_s = max(batch.delay_s, page.lease.delay_ms / 1000)
        self._advance(batch)

    def wait_s(self, page: Page) -> float:
        """How long a page that was taken has still to wait for its host."""
        head_at, delay_s = page.head_at, page.lease.delay_ms / 1000
        if page.batch:
            head_at = max(head_at, page.batch.last_head_at)
            delay_s = max(delay_s, page.batch.delay_s)
        return head_at + delay_s - time.monotonic() if head_at else 0.0

    def slow_down(self, page: Page, delay_ms: int) -> None:
        """A host has a longer delay now: what is due and not taken may have to wait again."""
        page.lease.delay_ms = max(page.lease.delay_ms, delay_ms)
        batch = page.batch
        if batch is None or batch.delay_s * 1000 >= delay_ms:
            return
        batch.delay_s = delay_ms / 1000
        due = batch.out
        if due and not due.taken and batch.due_at > time.monotonic():
            due.lane.ready.remove(due)
            batch.pages.appendleft(due)
            batch.out = None
            self._advance(batch)

    def withdraw(self, pages: Collection[Page]) -> None:
        """Take pages out of all queues: they are handed back, or gone."""
        for lane in {page.lane for page in pages}:
            lane.ready = deque(page for page in lane.ready if page not in pages)
        for batch in {page.batch for page in pages if page.batch}:
            batch.pages = deque(page for page in batch.pages if page not in pages)
            if batch.out in pages:
                batch.out = None
            self._advance(batch)

    def is_last(self, page: Page) -> bool:
        """Whether nothing more is held of its host's batch: the frontier may give the next one."""
        return page.batch is None or not (page.batch.pages or page.batch.out)

    def wake_soon(self, lane: Lane) -> None:
        """Wake a lane in the loop's next round: whoever calls may be in the middle of something."""
        if not self._to_wake:
            asyncio.get_running_loop().call_soon(self._wake)
        self._to_wake.add(lane)

    def stop(self) -> None:
        """No more wakes."""
        if self._timer:
            self._timer.cancel()
        self._timed.clear()

    def _place(self, page: Page) -> Batch | None:
        if not page.lease.delay_ms:
            self._make_due(page)
            return None
        batch = self._batches.setdefault(page.host, Batch(page.host))
        batch.delay_s = max(batch.delay_s, page.lease.delay_ms / 1000)
        batch.pages.append(page)
        page.batch = batch
        return batch

    def _make_due(self, page: Page) -> None:
        page.lane.ready.append(page)
        self.wake_soon(page.lane)

    def _advance(self, batch: Batch) -> None:
        """Make the batch's next page due, now or when its time has come."""
        if batch.out:
            return
        if not batch.pages:
            if self._batches.get(batch.host) is batch:
                del self._batches[batch.host]
        elif batch.due_at > time.monotonic():
            self._time(batch)
        else:
            batch.out = batch.pages.popleft()
            self._make_due(batch.out)

    def _time(self, batch: Batch) -> None:
        if not batch.timed:
            batch.timed = True
            self._serial += 1
            heappush(self._timed, (batch.due_at, self._serial, batch))
        self._arm()

    def _arm(self) -> None:
        if not self._timed:
            return
        first_at = self._timed[0][0]
        if self._timer and self._timer_at <= first_at:
            return
        if self._timer:
            self._timer.cancel()
        self._timer_at = first_at
        delay_s = max(0.0, first_at - time.monotonic())
        self._timer = asyncio.get_running_loop().call_later(delay_s, self._tick)

    def _tick(self) -> None:
        """A loop's clock may run a little ahead: what is not due by the real one is timed again."""
        self._timer = None
        now = time.monotonic()
        while self._timed and self._timed[0][0] <= now:
            batch = heappop(self._timed)[2]
            batch.timed = False
            self._advance(batch)
        self._arm()

    def _wake(self) -> None:
        lanes, self._to_wake = self._to_wake, set()
        for lane in lanes:
            if lane.closed or not lane.ready:
                continue
            try:
                lane.wake()
            except Exception:  # one engine's trouble is not the others'
                log.exception("engine could not be woken", lane=lane.name)
