"""One crawl from its submission to its end: workers, caretaker and progress in one process.

A job that stands already (the same spider, arguments, seeds and scope) is gone on with. A signal
drains the workers; then the job is paused, unless others work on it, so that no later crawl of the
same spider takes it along by chance, and the same command goes on with it.
"""

from __future__ import annotations

import asyncio
import signal
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from skitter.cli.watching import Watch, by_reason
from skitter.errors import JobEnded, UnknownJob
from skitter.orchestrator.finisher import Finisher
from skitter.service_errors import CannotCrawl, JobStands
from skitter.services import Services, open_services
from skitter.worker.run import plan_of, supervisor_of, tending

if TYPE_CHECKING:
    from skitter.cli.progress import Snapshot
    from skitter.cli.screens import Screen
    from skitter.frontier.live_jobs import JobRecord
    from skitter.jobs.submission import Submission
    from skitter.orchestrator.run_judge import Spiders
    from skitter.settings import Settings
    from skitter.worker.run import Crew
    from skitter.worker.supervisor import Supervisor

LOOK_S = 0.5
FINISH_S = 30.0
TROUBLE_S = 10.0
"""How long a spider may fail to start before the crawl is given up."""


@dataclass(frozen=True)
class Ended:
    """What came of a crawl. signal: the number of the signal that ended it, 0 if none did."""

    record: JobRecord
    last: Snapshot
    errors: dict[str, int]
    resumed: bool
    signal: int = 0


@dataclass(frozen=True, kw_only=True)
class Order:
    """What is to be crawled, and by whom. spiders are those whose gates count."""

    settings: Settings
    submission: Submission
    crew: Crew
    spiders: Spiders
    screen: Screen


async def crawl(order: Order) -> Ended:
    """Crawl until the job has ended, or a signal says to stop."""
    settings, plan = order.settings, plan_of(order.settings)
    async with (
        open_services(settings, worker=plan.name) as services,
        tending(services.frontier, tick_s=settings.frontier.caretaker_tick_s),
    ):
        job, resumed = await stand(services, order.submission)
        order.screen.say(
            f"Going on with {job}; --new begins anew" if resumed else f"Crawling {job}"
        )
        supervisor = supervisor_of(settings, services.frontier, plan=plan, crew=order.crew)
        running = _Running(services, order, supervisor, job=job, new=not resumed)
        return replace(await running.run(), resumed=resumed)


async def stand(services: Services, submission: Submission) -> tuple[str, bool]:
    """The job's id, and whether it stood already; one that was paused goes on."""
    try:
        return (await services.jobs.submit(submission)).id, False
    except JobStands as standing:
        job: str = standing.job
        if (await services.jobs.show(job)).ended:  # it was named by its id
            raise
    with suppress(JobEnded):
        await services.jobs.resume(job)
    return job, True


class _Running:
    """A job, the workers that this process runs for it, and what is seen of them."""

    def __init__(
        self, services: Services, order: Order, supervisor: Supervisor, *, job: str, new: bool
    ) -> None:
        self._services = services
        self._job = job
        self._supervisor = supervisor
        self._screen = order.screen
        self._spiders = order.spiders
        self._new = new
        self._watch = Watch(services.frontier, job)
        self._signal = 0

    async def run(self) -> Ended:
        """Work until it is over one way or the other."""
        self._heed_signals()
        working = asyncio.create_task(self._supervisor.run())
        try:
            await self._until_over(working)
        finally:
            if not self._signal:
                self._supervisor.stop()
            await self._drain(working)
        record, last = await self._watch.look()
        errors = by_reason(await self._services.frontier.stats.errors(self._job))
        if record.state == "ended":
            record = await self._finish(record)
        elif self._signal:
            record = await self._put_down(record)
        return Ended(record, last, errors, resumed=False, signal=self._signal)

    def _heed_signals(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, self._stop, number)

    def _stop(self, number: int) -> None:
        """The first signal drains, the second ends all processes at once."""
        self._signal = self._signal or number
        self._supervisor.stop()

    async def _until_over(self, working: asyncio.Task[int]) -> None:
        troubled_s = 0.0
        while not self._signal:
            record, snapshot = await self._watch.look()
            self._screen.show(snapshot)
            if record.state == "ended":
                return
            if working.done():
                raise CannotCrawl(job=self._job, reason="no worker process can be kept running")
            stuck = self._watch.troubles and not snapshot.reading.pages
            troubled_s = troubled_s + LOOK_S if stuck else 0.0
            if troubled_s >= TROUBLE_S:
                await self._give_up(snapshot.note)
            await asyncio.wait({working}, timeout=LOOK_S)

    async def _give_up(self, reason: str) -> None:
        if self._new:
            await self._services.jobs.stop(self._job)
        raise CannotCrawl(job=self._job, reason=reason)

    async def _drain(self, working: asyncio.Task[int]) -> None:
        """Wait for the workers, and show what they still bring in."""
        while not working.done():
            with suppress(Exception):  # what is shown now is a courtesy
                _, snapshot = await self._watch.look(note="ending" if self._signal else "")
                if self._signal:
                    note = "finishing what was begun; Ctrl-C again ends it at once"
                    snapshot = replace(snapshot, note=note)
                self._screen.show(snapshot)
            await asyncio.wait({working}, timeout=LOOK_S)
        await working

    async def _finish(self, record: JobRecord) -> JobRecord:
        """See the job to its end: gates, files, history; what cannot be done now is done later."""
        services, deadline = self._services, time.monotonic() + FINISH_S
        finisher = Finisher(
            services.frontier, services.store, services.settings, spiders=self._spiders
        )
        with suppress(UnknownJob):  # forgotten already, where retention is short
            while "filed" not in record.notes and time.monotonic() < deadline:
                await finisher.tend()
                record = await services.frontier.jobs.record(self._job)
        return record

    async def _put_down(self, record: JobRecord) -> JobRecord:
        """Pause what nobody works on any more."""
        if await self._services.frontier.workers.list():
            return record
        with suppress(JobEnded):
            await self._services.jobs.pause(self._job)
        return await self._services.frontier.jobs.record(self._job)
