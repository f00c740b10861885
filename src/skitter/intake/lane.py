"""An engine's queue: what may be fetched for it now."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from skitter.frontier.urls import START_HOST

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from skitter.intake.holding import Holding
    from skitter.intake.page import Page


class Lane:
    """The pages of one lane that are due.

    wake is called in the loop when `take` would give something. room says how many pages the
    engine wants to find waiting: those it could begin now and, to be busy without a pause, some
    more. Its queue is filled again when it is half empty.
    """

    def __init__(
        self,
        name: str,
        *,
        wake: Callable[[], None],
        room: Callable[[], int],
        holding: Holding,
    ) -> None:
        self.name = name
        self.wake = wake
        self.ready: deque[Page] = deque()
        self.closed = False
        self.on_low: Callable[[], None] = lambda: None
        self.on_close: Callable[[Lane], Awaitable[None]]
        self._room = room
        self._holding = holding

    @property
    def wanted(self) -> int:
        """How many more pages it should have waiting; 0 while half of them are there."""
        room = self._room()
        return room - len(self.ready) if len(self.ready) <= room // 2 else 0

    def take(self) -> Page | None:
        """The next request whose host may be asked now; never waits.

        While leases are stale (the server is away) there is none: they may yet be renewed. Nor is
        there while the bodies in hand fill their bound.
        """
        while self.ready:
            page = self.ready[0]
            if not (page.over or page.gone or page.give_back):
                return self._hand_out(page) if self._may_begin(page) else None
            self.ready.popleft()
        self.on_low()
        return None

    async def close(self) -> None:
        """Hand back what was not taken. Pages that were taken are settled as ever."""
        self.closed = True
        await self.on_close(self)

    def _may_begin(self, page: Page) -> bool:
        if page.lease.host == START_HOST:  # start() fetches nothing
            return self._holding.fresh(page.lease)
        return not self._holding.bodies.full and self._holding.fresh(page.lease)

    def _hand_out(self, page: Page) -> Page:
        self.ready.popleft()
        page.taken = True
        if page.lease.host != START_HOST:
            page.body = self._holding.bodies.begin()
        if self.wanted:
            self.on_low()
        return page
