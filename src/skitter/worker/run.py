"""From settings to a supervisor at work: cores, memory, signals, the frontier and its caretaker."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import structlog

from skitter.errors import NoSpiders
from skitter.frontier import Caretaker
from skitter.worker.cgroup import cores, memory_limit
from skitter.worker.nursling import Nursling
from skitter.worker.orders import Orders, Restriction
from skitter.worker.supervisor import OK, Plan, Supervisor
from skitter.worker.waiting import open_patiently

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable

    from skitter.frontier import Frontier
    from skitter.settings import Settings
    from skitter.settings.orchestration import HealthSettings

log = structlog.get_logger(__name__)

SHARE = 0.8  # of the cgroup's memory; the rest is for the parent and for what nobody expects
EVERYTHING = Restriction()
LEAST_SILENCE_S = 5.0
STOPPING = (signal.SIGTERM, signal.SIGINT)
Beside = Callable[["Frontier", Supervisor], Coroutine[Any, Any, None]]


async def run_worker(
    settings: Settings,
    *,
    modules: tuple[str, ...] = (),
    restriction: Restriction | None = None,
    beside: Beside | None = None,
    processes: int | None = None,
) -> int:
    """Run a worker until a signal ends it; the exit code.

    beside runs as long as the worker does, and may change how many processes it has; then it
    begins with so many.
    """
    if not modules:
        find_project(Path.cwd())
    plan = plan_of(settings)
    if processes is not None:
        plan = replace(plan, processes=processes)
    log.info("worker starts", processes=plan.processes, memory=plan.memory)
    stop = _Stop()
    with suppress(asyncio.CancelledError):
        async with (
            open_patiently(settings, worker=plan.name) as frontier,
            tending(frontier, tick_s=settings.frontier.caretaker_tick_s),
        ):
            crew = Crew(modules=modules, restriction=restriction or EVERYTHING)
            supervisor = supervisor_of(settings, frontier, plan=plan, crew=crew)
            stop.then(supervisor.stop)
            async with (
                _accompanied(beside, frontier, supervisor),
                _telling_health(settings.health, frontier, supervisor),
            ):
                return await supervisor.run()
    return OK


@dataclass(frozen=True, kw_only=True)
class Crew:
    """Which spiders a worker's processes load, and what they keep to.

    modules in place of the project's own; shipped: those that come with Skitter as well.
    """

    modules: tuple[str, ...] = ()
    restriction: Restriction = EVERYTHING
    shipped: bool = False


def supervisor_of(settings: Settings, frontier: Frontier, *, plan: Plan, crew: Crew) -> Supervisor:
    """A supervisor of worker processes, not running yet."""
    return Supervisor(plan, start=_starter(_bounded(settings, plan), crew), bury=_burier(frontier))


def find_project(folder: Path) -> Path:
    """The scrapy.cfg of a folder or of the nearest one above it; raises NoSpiders."""
    if "SCRAPY_SETTINGS_MODULE" in os.environ:
        return folder
    for above in (folder, *folder.parents):
        if (above / "scrapy.cfg").is_file():
            return above / "scrapy.cfg"
    raise NoSpiders(folder=folder)


def plan_of(settings: Settings) -> Plan:
    """What the settings and the cgroup allow."""
    worker = settings.worker
    processes = worker.processes or cores()
    limit = memory_limit()
    share = int(limit * SHARE / processes) if limit else None
    return Plan(
        name=worker.name(),
        processes=processes,
        grace_s=worker.grace_s,
        memory=worker.memory or share,
        restarts=worker.restarts,
        silence_s=max(settings.frontier.lease_s, LEAST_SILENCE_S),
    )


def _bounded(settings: Settings, plan: Plan) -> Settings:
    """A child is told what it may take: how many others share the cgroup it cannot see."""
    worker = settings.worker.model_copy(update={"memory": plan.memory})
    return settings.model_copy(update={"worker": worker})


class _Stop:
    """What a signal does: before there is a supervisor, it ends the wait for the server."""

    def __init__(self) -> None:
        self._main = asyncio.current_task()
        self._stop: Callable[[], object] = self._main.cancel if self._main else bool
        for number in STOPPING:
            asyncio.get_running_loop().add_signal_handler(number, self)

    def __call__(self) -> None:
        self._stop()

    def then(self, stop: Callable[[], object]) -> None:
        self._stop = stop


def _starter(settings: Settings, crew: Crew) -> Callable[[str], Awaitable[Nursling]]:
    def start(name: str) -> Awaitable[Nursling]:
        return Nursling.start(
            Orders(
                name=name,
                parent=os.getpid(),
                settings=settings,
                modules=crew.modules,
                restriction=crew.restriction,
                shipped=crew.shipped,
            )
        )

    return start


def _burier(frontier: Frontier) -> Callable[[str], Awaitable[None]]:
    async def bury(name: str) -> None:
        reaped = await frontier.reap(name)
        await frontier.workers.forget(name, dead=True)
        if reaped:
            log.warning("leases of a dead child given back", child=name, leases=reaped)

    return bury


@asynccontextmanager
async def _accompanied(
    beside: Beside | None, frontier: Frontier, supervisor: Supervisor
) -> AsyncIterator[None]:
    """What runs beside the supervisor, if anything does."""
    if beside is None:
        yield
        return
    running = asyncio.create_task(beside(frontier, supervisor))
    try:
        yield
    finally:
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running


@asynccontextmanager
async def _telling_health(
    settings: HealthSettings, frontier: Frontier, supervisor: Supervisor
) -> AsyncIterator[None]:
    """A health server as long as the block runs, if a port is given."""
    if settings.worker_port is None:
        yield
        return
    from skitter.worker.health import serving_health  # noqa: PLC0415 - brings in a web server
    from skitter.worker.health_told import worker_health  # noqa: PLC0415 - the same

    health = worker_health(frontier, supervisor)
    async with serving_health(health, host=settings.host, port=settings.worker_port):
        yield


@asynccontextmanager
async def tending(frontier: Frontier, *, tick_s: float) -> AsyncIterator[None]:
    """The frontier's caretaker, as long as the block runs."""
    caring = asyncio.create_task(_tend(frontier, tick_s))
    try:
        yield
    finally:
        caring.cancel()
        with suppress(asyncio.CancelledError):
            await caring


async def _tend(frontier: Frontier, tick_s: float) -> None:
    while True:
        try:
            await Caretaker(frontier, tick_s=tick_s).run()
        except Exception:
            log.exception("caretaker failed: it begins anew")
            await asyncio.sleep(tick_s)
