"""What all crawlers of one process share: the frontier, the intake, the sink and the policies.

`scrapy crawl` opens one for itself. A worker opens one for all its lanes and hands it on in the
Scrapy setting `SKITTER_PROCESS`; settings are copied deeply, a process is not.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from skitter.frontier import Caretaker
from skitter.frontier.opening import open_frontier
from skitter.intake import Bounds, Intake
from skitter.intake.job_sinks import JobSinks
from skitter.intake.sink_opening import open_sink_patiently
from skitter.policies.identity import robots_agent
from skitter.policies.proxies import ProxyPool
from skitter.policies.retry import RetryRules
from skitter.policies.robots import Robots
from skitter.policies.traps import TrapRules
from skitter.sinks import open_sink

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from skitter.frontier import Frontier
    from skitter.settings import Settings
    from skitter.sinks import Sink

SETTING = "SKITTER_PROCESS"
# A host's batch is about five seconds' worth: so many leases keep some 25 slow hosts at work.
IN_HAND = 128


@dataclass(frozen=True, eq=False)
class Process:
    """Opened once, used by all crawlers of the process."""

    settings: Settings
    frontier: Frontier
    intake: Intake
    sink: Sink
    retry: RetryRules
    robots: Robots
    proxies: ProxyPool
    traps: TrapRules
    waiting_lanes: set[str] = field(default_factory=set)
    """Lanes whose spiders wait for work from elsewhere: they stay open without any."""

    @classmethod
    def of(
        cls,
        settings: Settings,
        frontier: Frontier,
        *,
        intake: Intake,
        sink: Sink,
        proxies: ProxyPool,
    ) -> Process:
        """With the policies that the settings describe; the intake leases for `proxies`."""
        politeness = settings.politeness
        robots = Robots(frontier, agent=robots_agent(settings), settings=settings.robots)
        return cls(
            settings=settings,
            frontier=frontier,
            intake=intake,
            sink=sink,
            retry=RetryRules.of(settings.retry, max_retry_after_s=politeness.max_retry_after_s),
            robots=robots,
            proxies=proxies,
            traps=TrapRules(settings.traps),
        )

    def __deepcopy__(self, _memo: dict[int, Any]) -> Self:
        return self

    def __repr__(self) -> str:
        return f"<Process {self.frontier.worker}>"


@asynccontextmanager
async def open_process(settings: Settings, *, concurrency: int) -> AsyncIterator[Process]:
    """Open everything for one crawler, with the caretaker; close it in the opposite order."""
    async with open_frontier(settings) as frontier:
        caretaker = Caretaker(frontier, tick_s=settings.frontier.caretaker_tick_s)
        tending = asyncio.create_task(caretaker.run(), name="skitter caretaker")
        try:
            async with (
                ProxyPool(settings.proxies, frontier.egresses) as proxies,
                _open_sink(settings, frontier) as sink,
                Intake(
                    frontier,
                    sink=sink,
                    # As much again as the engine runs lies ready: it never waits for the server.
                    bounds=Bounds(
                        in_hand=max(IN_HAND, 4 * concurrency),
                        prefetch=concurrency,
                        body_bytes=settings.worker.room_for_bodies(),
                    ),
                    egresses=proxies.egresses,
                    renew_margin_s=settings.frontier.renew_margin_s,
                ) as intake,
            ):
                yield Process.of(settings, frontier, intake=intake, sink=sink, proxies=proxies)
        finally:
            tending.cancel()
            with suppress(asyncio.CancelledError):
                await tending


@asynccontextmanager
async def _open_sink(settings: Settings, frontier: Frontier) -> AsyncIterator[Sink]:
    sink = JobSinks(open_sink(settings.items.sink), frontier.jobs)
    await open_sink_patiently(sink)
    try:
        yield sink
    finally:
        await sink.close()
