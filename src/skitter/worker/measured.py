"""The intake and the sink of a worker: they count and time what passes, and bound what flies.

An engine knows how much it may have under way by itself; a process with many lanes needs a bound
over all of them. A lane that found no slot is woken when one is free.
"""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Any

from skitter.frontier.urls import START_HOST
from skitter.intake import Intake

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from skitter.frontier import Fetch
    from skitter.intake import Lane, Page
    from skitter.sinks import Item, Sink
    from skitter.worker.figures import Figures

    Tap = Callable[[Sequence[Item]], Awaitable[None]]


class MeasuredIntake(Intake):
    """An intake with figures, and at most `concurrency` pages in flight."""

    def __init__(self, *args: Any, figures: Figures, concurrency: int, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._figures = figures
        self._concurrency = concurrency
        self._flying: set[Page] = set()
        self._turned_away: dict[str, Lane] = {}
        self._settled_at: dict[Page, float] = {}

    @property
    def in_flight(self) -> int:
        """Pages that an engine has taken and whose fetch is not over."""
        return len(self._flying)

    @property
    def busy(self) -> set[str]:
        """Lanes with something in hand."""
        return {page.lane.name for page in self._holding.pages.values()}

    def lane(self, lane: str, *, wake: Callable[[], None], room: Callable[[], int]) -> Lane:
        """A lane that gives nothing while all slots of the process are taken."""
        opened = super().lane(lane, wake=wake, room=room)
        opened.take = partial(self._take, opened, opened.take)  # type: ignore[method-assign]
        return opened

    def fetched(self, page: Page, fetch: Fetch) -> None:
        """Its slot is free."""
        if fetch.latency_ms >= 0 and not page.turn_over:
            self._figures.took("fetch", fetch.latency_ms / 1000)
        super().fetched(page, fetch)
        self._landed(page)

    def settle(self, page: Page, outcome: Any = "done", **said: Any) -> None:
        """Count it, and note when it was said: the flush comes later."""
        new = not (page.over or page.settlement)
        super().settle(page, outcome, **said)
        self._landed(page)
        if new:
            self._count(page, outcome, page_given=said["page_given"])

    def release(self, page: Page) -> None:
        """Its slot is free."""
        super().release(page)
        self._landed(page)

    def _take(self, lane: Lane, take: Callable[[], Page | None]) -> Page | None:
        if len(self._flying) >= self._concurrency:
            self._turned_away[lane.name] = lane
            return None
        page = take()
        if page is not None and page.lease.host != START_HOST:  # start() asks nobody
            self._flying.add(page)
        return page

    def _landed(self, page: Page) -> None:
        self._flying.discard(page)
        while self._turned_away and len(self._flying) < self._concurrency:
            _, lane = self._turned_away.popitem()
            if not lane.closed:
                lane.wake()

    def _count(self, page: Page, outcome: str, *, page_given: bool) -> None:
        now = time.monotonic()
        self._settled_at[page] = now
        if page_given:
            self._figures.pages.note()
            self._figures.took("callback", now - page.head_at)
        if outcome == "done":
            self._figures.done += 1
        else:
            self._figures.failed += 1

    def _flushed(self, had_children: bool) -> None:  # noqa: FBT001 - as it is in Intake
        now = time.monotonic()
        for page in [page for page in self._settled_at if page.over]:
            self._figures.took("settle", now - self._settled_at.pop(page))
        super()._flushed(had_children)

    def _withdraw(self, pages: Sequence[Page]) -> None:
        super()._withdraw(pages)
        for page in pages:
            self._landed(page)
            self._settled_at.pop(page, None)


class MeasuredSink:
    """A sink with figures. tap, if there is one, is given what is stored."""

    def __init__(self, sink: Sink, figures: Figures, *, tap: Tap | None = None) -> None:
        self._sink = sink
        self._figures = figures
        self._tap = tap

    async def open(self) -> None:
        """Open the sink."""
        await self._sink.open()

    async def put(self, items: Sequence[Item]) -> None:
        """Put, and note how long it took."""
        begun = time.monotonic()
        await self._sink.put(items)
        self._figures.took("sink", time.monotonic() - begun)
        if self._tap:
            await self._tap(items)

    async def close(self) -> None:
        """Close the sink."""
        await self._sink.close()
