"""Everything in one process, with workers as its children: up until a signal, then in order down.

A signal drains the workers first; the API and the orchestrator go on until the last of them has
ended, for their jobs still change. A part that fails ends all, and is told.
"""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skitter.api.serving import serve
from skitter.orchestrator.duties import Duties
from skitter.orchestrator.local_scaling import Scaling
from skitter.orchestrator.orchestrator import Orchestrator
from skitter.services import open_services
from skitter.worker.run import plan_of, supervisor_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine

    from skitter.orchestrator.run_judge import Spiders
    from skitter.settings import Settings
    from skitter.worker.run import Crew
    from skitter.worker.supervisor import Plan, Supervisor


@dataclass(frozen=True)
class Standing:
    """What there is to know of it once it is up. key: the first key, told this once."""

    url: str
    key: str | None
    pid: int
    folder: str
    workers: str


@dataclass(frozen=True)
class Orders:
    """What is to run. spiders are those whose gates count; scaling: workers come and go."""

    settings: Settings
    crew: Crew
    spiders: Spiders
    scaling: bool


async def stand_up(orders: Orders, *, tell: Callable[[Standing], None]) -> int:
    """Run all of it until a signal; the exit code. tell is told when it is up."""
    settings = orders.settings
    plan = plan_of(settings)
    scaling = Scaling(settings, orders.crew.restriction) if orders.scaling else None
    if scaling:
        plan = replace(plan, processes=scaling.begin)
    async with open_services(settings, worker=plan.name) as services:
        key = await services.keys.create_first()
        supervisor = supervisor_of(settings, services.frontier, plan=plan, crew=orders.crew)
        _heed_signals(supervisor)
        duties = Duties(services, spiders=orders.spiders)
        workers = _workers(settings, plan, scaling=scaling is not None)

        def up(address: str) -> None:
            tell(Standing(address, key, os.getpid(), str(Path.cwd()), workers))

        beside: list[Coroutine[Any, Any, None]] = [
            Orchestrator(services, duties=duties).run(),
            serve(services, on_ready=up),
        ]
        if scaling:
            beside.append(scaling.run(services.frontier, supervisor))
        return await _run(supervisor, beside)


async def _run(supervisor: Supervisor, beside: list[Coroutine[Any, Any, None]]) -> int:
    """The supervisor with the rest beside it; what fails in the rest ends the supervisor too."""
    working = asyncio.create_task(supervisor.run())
    async with _together(beside) as tasks:
        await asyncio.wait({working, *tasks}, return_when=asyncio.FIRST_COMPLETED)
        failed = [task for task in tasks if task.done()]
        if failed:
            supervisor.stop()
        code = await working
        for task in failed:
            await task
        return code


@asynccontextmanager
async def _together(
    work: list[Coroutine[Any, Any, None]],
) -> AsyncIterator[list[asyncio.Task[None]]]:
    """Tasks that end with the block."""
    async with AsyncExitStack() as stack:
        tasks = [asyncio.create_task(each) for each in work]
        for task in tasks:
            stack.push_async_callback(_end, task)
        yield tasks


async def _end(task: asyncio.Task[None]) -> None:
    if not task.done():
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


def _heed_signals(supervisor: Supervisor) -> None:
    """The first signal drains; the second ends all processes at once."""
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, supervisor.stop)


def _workers(settings: Settings, plan: Plan, *, scaling: bool) -> str:
    if not scaling:
        return f"{plan.processes} processes"
    most = settings.autoscale.maximum or "one for each core"
    return f"as there is work, {settings.autoscale.minimum} to {most}"
