"""A crawl in its loop: the services, a worker, and the care that a job needs to come to its end."""

from __future__ import annotations

import asyncio
import os
import socket
from collections import deque
from contextlib import AsyncExitStack, suppress
from typing import TYPE_CHECKING, Any

import structlog

from skitter.errors import SkitterError
from skitter.frontier import Caretaker
from skitter.orchestrator.finisher import Finisher
from skitter.orchestrator.job_items import stored_of
from skitter.service_errors import CannotCrawl
from skitter.services import open_services
from skitter.worker.orders import Orders, Restriction

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from scrapy import Spider

    from skitter.jobs.submission import Submission
    from skitter.jobs.view import JobView
    from skitter.services import Services
    from skitter.settings import Settings
    from skitter.sinks import Item
    from skitter.worker.process import WorkerProcess
    from skitter.worker.project import Project

log = structlog.get_logger(__name__)

LOOK_S = 0.2
MOST_WAITING = 1_000
REMEMBERED = 1_000_000
BROKEN = "could not be opened"


class Running:
    """One crawl. `work` runs it; the other methods are called in the same loop meanwhile."""

    def __init__(
        self,
        settings: Settings,
        submission: Submission,
        spider: type[Spider] | None,
        *,
        tapped: bool,
    ) -> None:
        self.job = ""
        self._settings = settings
        self._submission = submission
        self._spider = spider
        self._tapped = tapped
        self._services: Services
        self._stopping = asyncio.Event()
        self._items: deque[Item] = deque()
        self._seen: set[str] = set()
        self._over = False
        self._moved = asyncio.Condition()

    async def work(self, stands: Callable[[], None]) -> JobView:
        """Run the crawl to its end, and put everything away."""
        # It brings in Scrapy, which who only imports Skitter need not wait for.
        project = await asyncio.to_thread(_load_project, self._spider)
        name = f"crawl-{socket.gethostname()}-{os.getpid()}-{id(self):x}"
        async with (
            open_services(self._settings, worker=name) as services,
            AsyncExitStack() as stack,
        ):
            self._services = services
            self.job = (await services.jobs.submit(self._submission)).id
            stands()
            _beside(stack, Caretaker(services.frontier).run())
            worker = self._worker(project, f"{name}.1")
            working = asyncio.create_task(worker.run())
            try:
                view = await self._until_ended(working, project)
            finally:
                worker.drain()
                with suppress(SkitterError):
                    await working
            await self._give_rest()
            return view

    async def next_items(self) -> list[dict[str, Any]] | None:
        """Items that came since it was asked last; None when there will be no more."""
        async with self._moved:
            await self._moved.wait_for(lambda: self._items or self._over)
            found = [item.data for item in self._items]
            self._items.clear()
            self._moved.notify_all()
        return found or None

    async def view(self) -> JobView:
        return await self._services.jobs.show(self.job)

    def stop(self) -> None:
        self._stopping.set()

    def _worker(self, project: Project, name: str) -> WorkerProcess:
        from skitter.worker.process import WorkerProcess  # noqa: PLC0415 - as above

        # Scrapy's own engine needs Twisted's reactor, which belongs to a main thread.
        settings = self._settings.model_copy(
            update={"worker": self._settings.worker.model_copy(update={"engine": "fast"})}
        )
        orders = Orders(
            name=name,
            parent=os.getppid(),
            settings=settings,
            restriction=Restriction(only=(self._submission.spider,)),
        )
        tap = self._take if self._tapped else None
        return WorkerProcess(orders, project, ready=lambda: None, tap=tap)

    async def _until_ended(self, working: asyncio.Task[bool], project: Project) -> JobView:
        services = self._services
        finisher = Finisher(
            services.frontier, services.store, self._settings, spiders=lambda: project.spiders
        )
        while True:
            if self._stopping.is_set():
                await services.jobs.stop(self.job)
            await finisher.tend()
            view = await self.view()
            if view.ended:
                return view
            if BROKEN in view.hint:
                await services.jobs.stop(self.job)
                raise CannotCrawl(job=self.job, reason=view.hint)
            if working.done():
                working.result()
                raise CannotCrawl(job=self.job, reason="its worker has ended")
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), LOOK_S)

    async def _take(self, items: Sequence[Item]) -> None:
        """Items that are durable, for whoever reads; waits while too many are unread."""
        async with self._moved:
            await self._moved.wait_for(
                lambda: len(self._items) < MOST_WAITING or self._stopping.is_set()
            )
            self._add(item for item in items if item.job == self.job)
            self._moved.notify_all()

    def _add(self, items: Any) -> None:
        for item in items:
            if item.id in self._seen:
                continue
            if len(self._seen) < REMEMBERED:
                self._seen.add(item.id)
            self._items.append(item)

    async def _give_rest(self) -> None:
        """What other workers have stored for the job; then there is no more to come."""
        if self._tapped and not self._stopping.is_set() and len(self._seen) < REMEMBERED:
            sinks = self._submission.sinks or self._settings.items.sink
            rest = await asyncio.to_thread(self._unseen, sinks[0])
        else:
            rest = []
        async with self._moved:
            self._add(rest)
            self._over = True
            self._moved.notify_all()
            await self._moved.wait_for(lambda: not self._items or self._stopping.is_set())

    def _unseen(self, sink: str) -> list[Item]:
        found = (stored.item for stored in stored_of(sink, self.job))
        return [item for item in found if item.id not in self._seen]


def _load_project(spider: type[Spider] | None) -> Project:
    """The spiders of this folder's project, those that come with Skitter, and the one given."""
    from skitter.worker.project import Project, load_settings  # noqa: PLC0415 - as above

    project = Project(load_settings())
    project.load(["skitter.spiders", *project.settings.getlist("SPIDER_MODULES")])
    if spider is not None:
        project.spiders[spider.name] = spider
    return project


def _beside(stack: AsyncExitStack, work: Any) -> None:
    """Run something until the block ends."""
    task = asyncio.create_task(work)

    async def end() -> None:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task

    stack.push_async_callback(end)
