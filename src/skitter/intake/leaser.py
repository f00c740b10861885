"""Prefetches work for all lanes that have room, in one call.

It asks when a lane's queue is half empty, within the process's bounds. An empty answer says when to
ask again; a turn that ended here, children that were queued or a lane that opened come sooner, but
while there is something to take no call follows the last one at once: few large ones cost less.
A request that workers died with is held back until nothing else is in hand, and nothing is leased
beside it.
"""

from __future__ import annotations

import asyncio
import math
import time
from typing import TYPE_CHECKING

import structlog

from skitter.errors import FrontierError
from skitter.frontier.urls import START_HOST
from skitter.intake.page import Page
from skitter.intake.signals import Backoff, heard

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from skitter.frontier import Frontier, Lease
    from skitter.intake.holding import Holding
    from skitter.intake.lane import Lane
    from skitter.intake.returner import EndedTurn, Returner

log = structlog.get_logger(__name__)

LOOK_AGAIN_S = 1.0
NO_EGRESS_S = 0.1
NOT_MORE_S = 0.01
LINGER_S = 0.05
ALONE_S = 60.0
HELD_UP_S = 5.0
REMEMBERED = 10_000


class Leaser:
    """Keeps lanes supplied. `deal` takes the pages that it leased; `withdraw` hands pages back."""

    def __init__(
        self,
        frontier: Frontier,
        holding: Holding,
        *,
        egresses: Callable[[], Sequence[str]],
        shards: Sequence[int] | None,
    ) -> None:
        self.lanes: dict[str, Lane] = {}
        self.deal: Callable[[Iterable[Page]], None]
        self.withdraw: Callable[[list[Page]], None]
        self.returner: Returner
        self.stopping = False
        self.declared: dict[str, str] = {}
        self._frontier = frontier
        self._holding = holding
        self._egresses = egresses
        self._shards = shards
        self._full = False
        self._ask_at = 0.0
        self._asked_at = 0.0
        self._call = asyncio.Event()
        self._dry = asyncio.Event()
        self._backoff = Backoff()
        self._told: set[str] = set()

    @property
    def prefetched(self) -> int:
        """How many pages are due and not taken."""
        return sum(len(lane.ready) for lane in self.lanes.values())

    def in_haste(self) -> bool:
        """Whether nothing is there to be taken: then nothing lingers that may lead to work."""
        return self.stopping or not any(lane.ready for lane in self.lanes.values())

    async def linger(self) -> None:
        """Let more come together before a call, until nothing is left to be taken."""
        if not self.in_haste():
            self._dry.clear()
            await heard(self._dry, LINGER_S)

    def room_made(self) -> None:
        """There may be room again: a reason to ask, unless there was nothing to lease anyway."""
        if self._full:
            self.ask_by(0.0)
        if not self._dry.is_set() and self.in_haste():
            self._dry.set()
            self._call.set()

    def ask_by(self, when: float) -> None:
        """There will be something to lease at this time (monotonic)."""
        if when < self._ask_at:
            self._ask_at = when
            self._call.set()

    def turn_free(self, turn: EndedTurn) -> None:
        """A host may be asked again by anyone, once its delay is over."""
        self.ask_by(turn.next_at)

    def stop(self) -> None:
        """Lease no more; an answer that is under way is handed back."""
        self.stopping = True
        self._call.set()
        self._dry.set()
        self._holding.change.tell()

    async def run(self) -> None:
        """Lease until stopped."""
        while not self.stopping:
            self._ask_at = math.inf
            wait_s = await self._try()
            self._ask_at = min(self._ask_at, time.monotonic() + wait_s)
            await self._pause()

    async def _try(self) -> float:
        try:
            wait_s = await self._ask()
            self._backoff.reset()
            return wait_s
        except Exception as error:  # noqa: BLE001 - the loop goes on, whatever it was
            log.warning("nothing could be leased", error=str(error))
            await self._backoff.pause()
            return 0.0

    async def _pause(self) -> None:
        while not self.stopping and (left_s := self._due_at() - time.monotonic()) > 0:
            self._call.clear()
            await heard(self._call, left_s)

    def _due_at(self) -> float:
        """When the next call is due."""
        if self.in_haste():
            return self._ask_at
        self._dry.clear()
        return max(self._ask_at, self._asked_at + LINGER_S)

    async def _ask(self) -> float:
        """Ask once; the seconds until it is worth asking again."""
        egresses = list(self._egresses())
        lanes, count = self._wanted()
        self._full = count <= 0
        self._holding.stats.hungry = not self._full
        if self._full or not egresses:
            self._give_back_held_up()
            return LOOK_AGAIN_S if self._full else NO_EGRESS_S
        self._asked_at = time.monotonic()
        await self.returner.report()
        found = await self._frontier.lease(
            lanes, count=count, egresses=egresses, shards=self._shards
        )
        self._holding.stats.leased += len(found.leases)
        self._holding.stats.hungry = len(found.leases) < count
        pages = await self._sorted(found.leases)
        if pages and pages[0].lease.alone:
            await self._run_alone(pages[0])
        else:
            self._hand_on(pages)
        if pages and len(found.leases) == count:
            return 0.0
        return max(found.retry_ms / 1000, NOT_MORE_S)

    def _wanted(self) -> tuple[list[str], int]:
        """Which lanes have room, and for how many pages there is room in all.

        An engine that leaves its pages lying keeps no other from work: where too much is prefetched
        already, a lane with nothing still gets one.
        """
        bounds, holding = self._holding.bounds, self._holding
        if holding.in_hand >= bounds.in_hand or holding.over_bounds or holding.bodies.full:
            return [], 0
        wanted = {name: n for name, lane in self.lanes.items() if (n := lane.wanted) > 0}
        most = bounds.prefetch - self.prefetched
        if most <= 0:
            wanted = {name: 1 for name in wanted if not self.lanes[name].ready}
            most = len(wanted)
        return list(wanted), min(sum(wanted.values()), most, bounds.in_hand - holding.in_hand)

    def _give_back_held_up(self) -> None:
        """What waits for big bodies keeps its hosts' turns from other workers: not for long."""
        bodies = self._holding.bodies
        if bodies.full and time.monotonic() - bodies.begun_at > HELD_UP_S:
            self.withdraw(self._holding.untaken)

    async def _sorted(self, leases: Sequence[Lease]) -> list[Page]:
        """Pages for their lanes; what has no lane any more is handed back."""
        pages, strays = [], []
        for lease in leases:
            lane = self.lanes.get(await self._lane_of(lease.request.job))
            if lane is None or self.stopping:
                strays.append(lease)
            else:
                pages.append(Page(lease, lane))
        self.returner.hand_back(strays)
        for page in pages:
            self._holding.pages[page.lease.token] = page
        return pages

    async def _lane_of(self, job: str) -> str:
        try:
            lane = (await self._frontier.jobs.known(job)).job.lane
            if job not in self._told:
                await self._tell(job, self.declared.get(lane, ""))
            return lane
        except FrontierError as error:  # its leases go back, whatever became of the job
            log.warning("job is not known", job=job, error=str(error))
            return ""

    async def _tell(self, job: str, declared: str) -> None:
        """Whoever judges the job may not have its spider's class."""
        if declared:
            await self._frontier.jobs.declare(job, declared)
        if len(self._told) >= REMEMBERED:
            self._told.clear()
        self._told.add(job)

    def _hand_on(self, pages: list[Page]) -> None:
        """A lane may have closed, and a drain begun, while the last step waited."""
        self.withdraw([page for page in pages if page.lane.closed or self.stopping])
        self.deal(page for page in pages if not page.over)

    async def _run_alone(self, page: Page) -> None:
        """Give it to its engine with nothing beside it, and wait until it has ended."""
        holding = self._holding
        self.withdraw([other for other in holding.untaken if other is not page])
        await holding.change.until(lambda: self.stopping or self._nothing_beside(page), ALONE_S)
        self._hand_on([page])
        await holding.change.until(lambda: self.stopping or page.over, ALONE_S)

    def _nothing_beside(self, page: Page) -> bool:
        """A run of start() may last as long as its job, and is not waited for."""
        others = self._holding.pages.values()
        return self.returner.idle and all(
            other is page or other.lease.host == START_HOST for other in others
        )
