"""Opens a lane when the frontier has work for it, closes it when there is none for a while.

It looks about once a second, more seldom when there are very many lanes. What goes wrong in one
lane is told and tried again later; the others go on.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any, Protocol

import structlog

from skitter.errors import FrontierError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection

    from skitter.frontier import Frontier
    from skitter.frontier.lanes import LaneSpec
    from skitter.worker.lane_book import LaneBook
    from skitter.worker.orders import Restriction

log = structlog.get_logger(__name__)

LOOK_S, LONGEST_LOOK_S = 1.0, 10.0
LANES_A_SECOND = 500
ANEW_S = 60.0
MOST_TOLD = 50


class OpenLane(Protocol):
    """A lane's crawler, at work."""

    async def ended(self) -> None:
        """Return when it has ended; raises what ended it."""

    async def close(self) -> None:
        """End it."""


class LaneKeeper:
    """One process's lanes. `open_lane` returns when the crawler is at work."""

    def __init__(
        self,
        frontier: Frontier,
        book: LaneBook,
        *,
        open_lane: Callable[[LaneSpec], Awaitable[OpenLane]],
        spiders: Collection[str],
        restriction: Restriction,
        busy: Callable[[], Collection[str]],
    ) -> None:
        self.waiting = False
        self._frontier = frontier
        self._book = book
        self._open_lane = open_lane
        self._spiders = spiders
        self._restriction = restriction
        self._busy = busy
        self._specs: dict[str, LaneSpec] = {}
        self._open: dict[str, OpenLane] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._closing: set[asyncio.Task[None]] = set()
        self._anew_at = 0.0

    async def run(self) -> None:
        """Look again and again, until cancelled."""
        while True:
            try:
                await self.look()
                self.waiting = False
            except FrontierError as error:
                self.waiting = True
                log.warning("waiting for the server", error=str(error))
            mine = len(self._specs) / LANES_A_SECOND
            await asyncio.sleep(min(LONGEST_LOOK_S, max(LOOK_S, mine)))

    async def look(self) -> None:
        """One look at what there is to do."""
        anew = time.monotonic() >= self._anew_at
        self._specs = await self._frontier.lanes.learn(anew=anew)
        if anew:
            self._anew_at = time.monotonic() + ANEW_S
            self._book.forget(self._specs)
        shards = self._restriction.shards or None
        hosts = self._frontier.only_hosts
        ready = await self._frontier.lanes.ready(self._mine(), shards=shards, hosts=hosts)
        moves = self._book.look(time.monotonic(), ready=ready, busy=self._busy())
        for lane in moves.close:
            self._start_closing(lane)
        for lane in moves.open:
            self._tasks[lane] = asyncio.create_task(self._run(self._specs[lane]))

    async def close(self) -> None:
        """Close all lanes, those included that are being opened."""
        for lane, task in self._tasks.items():
            if lane in self._open:
                self._start_closing(lane)
            else:
                task.cancel()
        ending = [*self._tasks.values(), *self._closing]
        await asyncio.gather(*ending, return_exceptions=True)

    def tell(self) -> dict[str, Any]:
        """For the heartbeat: lanes, spiders that are here, those that are not, and troubles."""
        asked = {spec.spider for spec in self._specs.values()}
        missing = {name for name in asked if self._restriction.takes(name)} - set(self._spiders)
        return {
            "lanes": [
                {"lane": lane, "spider": self._name(lane), "state": entry.state}
                for lane, entry in list(self._book.lanes.items())[:MOST_TOLD]
            ],
            "missing": sorted(missing)[:MOST_TOLD],
            "spiders": sorted(filter(self._restriction.takes, self._spiders))[:MOST_TOLD],
            "errors": {
                f"{self._name(lane)} ({lane})": trouble.error[:200]
                for lane, trouble in list(self._book.troubles.items())[:MOST_TOLD]
            },
        }

    def _mine(self) -> list[str]:
        """Lanes of spiders that are here and wanted."""
        return [
            lane
            for lane, spec in self._specs.items()
            if spec.spider in self._spiders and self._restriction.takes(spec.spider)
        ]

    async def _run(self, spec: LaneSpec) -> None:
        """A lane from its opening to its end."""
        lane = spec.lane
        try:
            self._open[lane] = opened = await self._open_lane(spec)
            self._book.opened(lane, time.monotonic())
            log.info("lane opened", lane=lane, spider=spec.spider)
            await opened.ended()
            self._book.closed(lane, time.monotonic())
            log.info("lane closed", lane=lane, spider=spec.spider)
        except Exception as error:  # a spider's trouble is its own
            log.exception("lane failed", lane=lane, spider=spec.spider)
            text = f"{type(error).__name__}: {error}"
            self._book.failed(lane, time.monotonic(), error=text)
        finally:
            self._open.pop(lane, None)
            self._tasks.pop(lane, None)

    def _start_closing(self, lane: str) -> None:
        opened = self._open.get(lane)
        if opened is not None:
            closing = asyncio.create_task(self._close(lane, opened))
            self._closing.add(closing)
            closing.add_done_callback(self._closing.discard)

    async def _close(self, lane: str, opened: OpenLane) -> None:
        try:
            await opened.close()
        except Exception:  # its end is seen all the same
            log.exception("lane did not close well", lane=lane, spider=self._name(lane))

    def _name(self, lane: str) -> str:
        return self._specs[lane].spider if lane in self._specs else "?"
