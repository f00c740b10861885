"""A child's life: open what all lanes share, keep the lanes, tell how it goes, and drain.

Draining: nothing more is leased, what no crawler has begun goes back at once, what was begun is
finished and settled within the grace, and the rest is handed back.
"""

from __future__ import annotations

import asyncio
import os
import socket
import time
from contextlib import AsyncExitStack, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import structlog

from skitter.engine.process import Process
from skitter.intake import Bounds, IntakeStats
from skitter.intake.job_sinks import JobSinks
from skitter.intake.sink_opening import open_sink_patiently
from skitter.policies.proxies import ProxyPool
from skitter.sinks import open_sink
from skitter.worker.engine_lane import open_lane
from skitter.worker.figures import Figures
from skitter.worker.heart import Heart
from skitter.worker.lane_book import LaneBook
from skitter.worker.lane_keeper import LaneKeeper
from skitter.worker.measured import MeasuredIntake, MeasuredSink
from skitter.worker.usage import Usage
from skitter.worker.waiting import open_patiently

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from skitter.frontier import Frontier
    from skitter.worker.measured import Tap
    from skitter.worker.orders import Orders
    from skitter.worker.project import Project

log = structlog.get_logger(__name__)

MARGIN_S = 3.0  # of the grace, for all that comes after the last page


class WorkerProcess:
    """One child. `ready` is called when it is at work; tap is given the items that are stored."""

    def __init__(
        self,
        orders: Orders,
        project: Project,
        *,
        ready: Callable[[], None],
        tap: Tap | None = None,
    ) -> None:
        self._tap = tap
        self._orders = orders
        self._settings = orders.settings
        self._project = project
        self._ready = ready
        self._since = time.time()
        self._figures = Figures()
        self._usage = Usage()
        self._draining = asyncio.Event()
        self._running = False
        self._intake: MeasuredIntake
        self._keeper: LaneKeeper

    def drain(self) -> None:
        """Finish what was begun, and end."""
        self._draining.set()

    async def run(self) -> bool:
        """Work until told to drain. False if something did not end within the grace."""
        async with AsyncExitStack() as stack:
            opening = asyncio.create_task(self._open(stack))
            draining = asyncio.create_task(self._draining.wait())
            await asyncio.wait({opening, draining}, return_when=asyncio.FIRST_COMPLETED)
            if not opening.done():  # told to end before there was a server
                opening.cancel()
            with suppress(asyncio.CancelledError):
                heart = await opening
                self._ready()
                return await self._work(heart, draining)
        return True

    async def _open(self, stack: AsyncExitStack) -> Heart:
        orders, settings = self._orders, self._settings
        frontier = await stack.enter_async_context(open_patiently(settings, worker=orders.name))
        frontier.keep_to(orders.restriction.hosts)
        by_job = JobSinks(open_sink(settings.items.sink), frontier.jobs)
        sink = MeasuredSink(by_job, self._figures, tap=self._tap)
        await open_sink_patiently(sink)
        stack.push_async_callback(sink.close)
        proxies = await stack.enter_async_context(ProxyPool(settings.proxies, frontier.egresses))
        self._intake = self._make_intake(frontier, sink=sink, proxies=proxies)
        await stack.enter_async_context(self._intake)
        process = Process.of(settings, frontier, intake=self._intake, sink=sink, proxies=proxies)
        self._keeper = LaneKeeper(
            frontier,
            LaneBook(most=settings.worker.lanes, idle_s=settings.worker.lane_idle_s),
            open_lane=partial(open_lane, project=self._project, process=process),
            spiders=self._project.spiders,
            restriction=orders.restriction,
            busy=lambda: self._intake.busy | process.waiting_lanes,
        )
        return Heart(
            frontier, name=orders.name, every_s=settings.worker.heartbeat_s, tell=self.tell
        )

    def _make_intake(
        self, frontier: Frontier, *, sink: MeasuredSink, proxies: ProxyPool
    ) -> MeasuredIntake:
        # A host's batch is seconds' worth: polite hosts need many leases for few requests.
        most = self._settings.worker.concurrency
        return MeasuredIntake(
            frontier,
            sink=sink,
            bounds=Bounds(
                in_hand=4 * most,
                prefetch=most,
                body_bytes=self._settings.worker.room_for_bodies(),
            ),
            egresses=proxies.egresses,
            shards=self._orders.restriction.shards or None,
            renew_margin_s=self._settings.frontier.renew_margin_s,
            figures=self._figures,
            concurrency=most,
        )

    async def _work(self, heart: Heart, draining: asyncio.Task[bool]) -> bool:
        await heart.beat()
        self._running = True
        tasks = [_begin(heart.run()), _begin(self._keeper.run())]
        try:
            await asyncio.wait({draining, *tasks}, return_when=asyncio.FIRST_COMPLETED)
            tasks[1].cancel()
            return await self._drain()
        finally:
            for task in tasks:
                task.cancel()
            for outcome in await asyncio.gather(*tasks, return_exceptions=True):
                if isinstance(outcome, Exception):
                    raise outcome
            await heart.stop()

    async def _drain(self) -> bool:
        grace_s = self._settings.worker.grace_s
        ends_at = time.monotonic() + grace_s - min(MARGIN_S / 2, grace_s / 4)
        log.info("draining", in_hand=self._intake.stats.in_hand, grace_s=grace_s)
        closing = _begin(self._keeper.close())
        await self._intake.drain(max(grace_s / 2, grace_s - MARGIN_S))
        # What spiders do at their end, such as to store a feed, has what is left of the grace.
        _, late = await asyncio.wait({closing}, timeout=max(0.1, ends_at - time.monotonic()))
        if late:
            log.warning("crawlers did not end in time")
        return not late

    def tell(self) -> dict[str, Any]:
        """What the heartbeat says."""
        stats = self._intake.stats
        return {
            "state": self._state,
            "since": self._since,
            "pid": os.getpid(),
            "host": socket.gethostname(),
            "cpu_percent": self._usage.cpu_percent(),
            "memory": self._usage.memory(),
            "busy": self._busy(stats),
            "in_hand": stats.in_hand,
            "in_flight": self._intake.in_flight,
            "prefetched": stats.prefetched,
            "unflushed": stats.settlements,
            "leased": stats.leased,
            "refused": stats.refused,
            "modules": dict(list(self._project.errors.items())[:20]),
            **self._figures.fields(),
            **self._keeper.tell(),
        }

    def _busy(self, stats: IntakeStats) -> float:
        """How full its hands are: 1.0 where it would take no more, if there were more."""
        most = self._settings.worker.concurrency
        if stats.in_hand and not stats.hungry:
            return 1.0
        return round(min(1.0, max(self._intake.in_flight / most, stats.in_hand / (4 * most))), 3)

    @property
    def _state(self) -> str:
        if self._draining.is_set():
            return "draining"
        if not self._running:
            return "starting"
        return "waiting for the server" if self._keeper.waiting else "running"


def _begin(work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
    return asyncio.create_task(work)
