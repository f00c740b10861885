"""Gives turns and work back to the frontier: fetches that are over, requests handed back.

A turn goes back as soon as its fetch is over, however long the page's settlement takes. While
engines have enough to do it lingers a little: a settlement that comes meanwhile takes the fetch
along and saves a call. A page's fetch is told before the page is handed back.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

import structlog

from skitter.frontier import Fetch
from skitter.intake.signals import Backoff

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from skitter.frontier import Frontier, Lease, Permit
    from skitter.intake.holding import Holding

log = structlog.get_logger(__name__)

AT_ONCE = 500


@dataclass(slots=True)
class EndedTurn:
    """A fetch that is over, and when that was said. next_at: when its host may be asked again."""

    lease: Lease | Permit
    fetch: Fetch
    said_at: float
    next_at: float

    def report(self) -> Fetch:
        """The fetch as of now: its head is older than it was when it was reported."""
        fetch = self.fetch
        ago_ms = fetch.ago_ms + 1000 * (time.monotonic() - self.said_at)
        return Fetch(ago_ms, fetch.latency_ms, fetch.status, fetch.retry_after_ms)


class Returner:
    """Tells the frontier of ended turns and of work handed back, in batches."""

    def __init__(
        self,
        frontier: Frontier,
        holding: Holding,
        *,
        linger: Callable[[], Awaitable[None]],
        turn_free: Callable[[EndedTurn], None],
    ) -> None:
        self._frontier = frontier
        self._holding = holding
        self._linger = linger
        self._turn_free = turn_free
        self._ended: dict[str, EndedTurn] = {}
        self._back: dict[str, Lease | Permit] = {}
        self._work = asyncio.Event()
        self._telling = asyncio.Lock()
        self._backoff = Backoff()

    @property
    def idle(self) -> bool:
        """Whether all that was given back has arrived."""
        return not (self._ended or self._back)

    def end(self, turn: EndedTurn) -> None:
        """Report a fetch soon."""
        self._ended[turn.lease.token] = turn
        self._work.set()

    def claim(self, token: str) -> EndedTurn | None:
        """A fetch that was not reported yet, for a settlement to take along."""
        return self._ended.pop(token, None)

    def reported(self, turn: EndedTurn) -> None:
        """A fetch that was claimed has been told."""
        self._turn_free(turn)

    def hand_back(self, leases: Iterable[Lease | Permit]) -> None:
        """Release these soon."""
        self._back.update((lease.token, lease) for lease in leases)
        self._work.set()

    async def run(self) -> None:
        """Return what there is until cancelled."""
        while True:
            await self._work.wait()
            if not self._back:
                await self._linger()
            self._work.clear()
            try:
                await self.flush()
                self._backoff.reset()
            except Exception as error:  # noqa: BLE001 - whatever it is, nothing may be forgotten
                log.warning("turns could not be given back", error=str(error))
                await self._backoff.pause()
            if not self.idle:
                self._work.set()

    async def report(self) -> None:
        """Report fetches that are over: their hosts may give new turns."""
        async with self._telling:
            await self._report(dict(islice(self._ended.items(), AT_ONCE)))

    async def flush(self) -> None:
        """Report fetches that are over, then release what is handed back."""
        async with self._telling:
            await self._flush()

    async def _flush(self) -> None:
        back = list(islice(self._back.values(), AT_ONCE))
        ended = list(islice(self._ended.values(), AT_ONCE))
        ended += [self._ended[lease.token] for lease in back if lease.token in self._ended]
        await self._report({turn.lease.token: turn for turn in ended})
        if back:
            answers = await self._frontier.release(back)
            self._holding.stats.released += sum(answers)
            for lease in back:
                self._back.pop(lease.token, None)
        if self.idle:
            self._holding.change.tell()

    async def _report(self, ended: dict[str, EndedTurn]) -> None:
        if not ended:
            return
        await self._frontier.fetched([(turn.lease, turn.report()) for turn in ended.values()])
        for token, turn in ended.items():
            if self._ended.pop(token, None):
                self._turn_free(turn)
