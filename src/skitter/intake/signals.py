"""How tasks of one loop wait for each other, always with a time limit."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

LOOK_AGAIN_S = 1.0


class Change:
    """Something that any number of tasks may wait for to change."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    def tell(self) -> None:
        """Wake all that wait now."""
        self._event.set()
        self._event = asyncio.Event()

    async def until(self, condition: Callable[[], bool], timeout_s: float) -> bool:
        """Wait until a condition holds; False if it did not in time."""
        ends_at = time.monotonic() + timeout_s
        while not condition():
            left_s = ends_at - time.monotonic()
            if left_s <= 0:
                return False
            await heard(self._event, min(left_s, LOOK_AGAIN_S))
        return True


async def heard(event: asyncio.Event, timeout_s: float) -> None:
    """Wait for an event, or until the time is over."""
    with suppress(TimeoutError):
        async with asyncio.timeout(timeout_s):
            await event.wait()


class Backoff:
    """Pauses that grow while something fails, and start small again when it works."""

    def __init__(self, *, first_s: float = 0.1, longest_s: float = 2.0) -> None:
        self._first_s = first_s
        self._longest_s = longest_s
        self._next_s = first_s

    def reset(self) -> None:
        self._next_s = self._first_s

    async def pause(self) -> None:
        pause_s, self._next_s = self._next_s, min(2 * self._next_s, self._longest_s)
        await asyncio.sleep(pause_s)
