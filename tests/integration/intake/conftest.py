"""Intakes on a real server, each with a frontier of its own, closed at the end."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import uvloop

from skitter.frontier import Caretaker, Config, Frontier, Job, Request
from skitter.intake import Bounds, Intake
from tests.integration.intake.engine import MemorySink
from tests.recount import recount
from tests.wait import wait_until_async

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable

    from skitter.frontier.stats import JobStats
    from skitter.intake import Lane, Page
    from tests.servers import ServerProcess

LANE = Job(id="", spider="spider").lane


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.integration)


def pytest_asyncio_loop_factories(
    item: pytest.Item,
) -> dict[str, Callable[[], asyncio.AbstractEventLoop]]:
    """Crawls run on both loops, for their clocks differ."""
    loops: dict[str, Callable[[], asyncio.AbstractEventLoop]] = {"asyncio": asyncio.new_event_loop}
    if item.path.name == "test_crawl.py":
        loops["uvloop"] = uvloop.new_event_loop
    return loops


@pytest.fixture
def server_url(valkey_server: ServerProcess) -> str:
    return valkey_server.url


@dataclass
class Workshop:
    """Opens frontiers, intakes and lanes on one namespace."""

    url: str
    namespace: str
    stack: AsyncExitStack
    config: Config
    sink: MemorySink = field(default_factory=MemorySink)
    frontiers: list[Frontier] = field(default_factory=list)

    @property
    def frontier(self) -> Frontier:
        """The first one that was opened, for a test's own questions."""
        return self.frontiers[0]

    async def connect(self, worker: str, **options: Any) -> Frontier:
        frontier = await Frontier.connect(
            self.url, worker=worker, namespace=self.namespace, config=self.config, **options
        )
        self.frontiers.append(frontier)
        return await self.stack.enter_async_context(frontier)

    async def open(self, worker: str = "w1", **options: Any) -> Intake:
        """An intake of another worker; `bounds` and others are the intake's."""
        connect = {k: options.pop(k) for k in ("patience_s", "timeout_s") if k in options}
        frontier = await self.connect(worker, **connect)
        intake = Intake(frontier, sink=options.pop("sink", self.sink), **options)
        return await self.stack.enter_async_context(intake)

    async def tend(self) -> None:
        """Reap and complete in the background, as some process always does."""
        task = asyncio.create_task(Caretaker(await self.connect("care"), tick_s=0.05).run())
        self.stack.push_async_callback(_end, task)

    async def job(self, name: str = "j", **fields: Any) -> None:
        named: dict[str, Any] = {"id": name, "spider": "spider", "robots": False} | fields
        await self.frontier.jobs.submit(Job(**named))

    async def add(self, *urls: str, job: str = "j") -> None:
        await self.frontier.add([Request(job, url) for url in urls])

    async def stats(self, job: str = "j") -> JobStats:
        return await self.frontier.stats.job(job)

    async def counts_are_right(self) -> None:
        assert await recount(self.frontier) == []


async def _end(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


@pytest.fixture
async def shop(server_url: str, namespace: str) -> AsyncIterator[Workshop]:
    """Hosts without a delay, and leases that last a while; a test may change `config` first."""
    async with AsyncExitStack() as stack:
        yield Workshop(server_url, namespace, stack, Config(delay_ms=0, lease_ms=3_000))


def open_lane(intake: Intake, *, room: int = 100, lane: str = LANE) -> Lane:
    return intake.lane(lane, wake=lambda: None, room=lambda: room)


async def take(lane: Lane, count: int = 1, *, timeout_s: float = 5.0) -> list[Page]:
    """So many pages, as they come due."""
    pages: list[Page] = []

    def taken() -> bool:
        while len(pages) < count and (page := lane.take()):
            pages.append(page)
        return len(pages) == count

    await wait_until_async(taken, timeout_s=timeout_s, what=f"{count} pages to take")
    return pages


def urls_of(pages: Iterable[Page]) -> list[str]:
    return [page.request.url for page in pages]


def urls(host: str, count: int) -> list[str]:
    return [f"https://{host}/{n}" for n in range(count)]


SMALL = Bounds(in_hand=8, prefetch=4, children=100, unflushed=4)
