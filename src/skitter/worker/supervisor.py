"""The parent: keeps its children running, gives the leases of dead ones back, ends them in order.

Each place has a task that starts a child and waits for its death; there can be more places or
fewer while it runs. A child's name is used once, so that its leases are known as a dead worker's
for sure. Signals only set events; nothing waits without an end.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Protocol

import structlog

from skitter.worker.restarts import Restarts

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

log = structlog.get_logger(__name__)

LOOK_S = 0.5
END_S = 5.0
SILENT_LOOKS = 3
OK, FAILED = 0, 1


class Ward(Protocol):
    """What the supervisor needs of a child."""

    name: str
    leaving: bool

    @property
    def pid(self) -> int: ...
    @property
    def ready(self) -> bool: ...
    @property
    def alive(self) -> bool: ...
    @property
    def lived_s(self) -> float: ...
    @property
    def silent_s(self) -> float: ...
    def memory(self) -> int | None: ...
    def drain(self) -> None: ...
    def kill(self) -> None: ...
    async def wait(self) -> int: ...


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How many children there are to be, and their bounds. memory is in bytes, for each.

    silence_s: how long the event loop of a child may stand still before the child is killed.
    """

    name: str
    processes: int
    grace_s: float
    memory: int | None = None
    restarts: int = 10
    silence_s: float | None = None


@dataclass(eq=False)
class Place:
    """Where one child after the other is started, until the place is over."""

    over: asyncio.Event = field(default_factory=asyncio.Event)
    child: Ward | None = None

    def end(self) -> None:
        """Its child finishes and goes; no other comes."""
        self.over.set()
        if self.child:
            self.child.drain()


class Supervisor:
    """Runs a plan. `start` starts a child of a name; `bury` gives back what a dead one held."""

    def __init__(
        self,
        plan: Plan,
        *,
        start: Callable[[str], Awaitable[Ward]],
        bury: Callable[[str], Awaitable[object]],
    ) -> None:
        self.name = plan.name
        self._plan = plan
        self._start = start
        self._bury = bury
        self._numbers = count(1)
        self._places: list[Place] = []
        self._tasks: set[asyncio.Task[bool]] = set()
        self._children: set[Ward] = set()
        self._silent: Counter[str] = Counter()
        self._draining = asyncio.Event()
        self._ending = asyncio.Event()
        self._changed = asyncio.Event()
        self._kept = True
        self._killed = False
        self._fault: BaseException | None = None

    @property
    def places(self) -> int:
        """How many children there are to be."""
        return len(self._places)

    @property
    def ready(self) -> int:
        """How many of them are at work."""
        return sum(child.ready and not child.leaving for child in self._children)

    @property
    def memory(self) -> int:
        """The bytes that all children have resident."""
        return sum(child.memory() or 0 for child in self._children)

    def stop(self) -> None:
        """The first call drains all children; the second ends them at once."""
        if self._draining.is_set():
            self._ending.set()
        self._draining.set()
        for place in self._places:
            place.over.set()
        self._changed.set()

    def scale_to(self, number: int) -> None:
        """Have so many children from now on; what is too many drains, the youngest first."""
        if self._draining.is_set():
            return
        while len(self._places) < number:
            self._places.append(Place())
            task = asyncio.create_task(self._tend(self._places[-1]))
            self._tasks.add(task)
            task.add_done_callback(self._note_end)
        while len(self._places) > number:
            place = self._places.pop()
            place.end()
            if place.child:
                self._insist(place.child)

    async def run(self) -> int:
        """Run until stopped, or until every place is given up; the exit code."""
        self.scale_to(self.places or self._plan.processes)
        watching = asyncio.create_task(self._watch())
        ending = asyncio.create_task(self._end_children())
        try:
            while not self._is_over():
                self._changed.clear()
                await self._changed.wait()
        finally:
            for task in (watching, ending, *self._tasks):
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task
        if self._fault:
            raise self._fault
        return OK if self._kept and not self._killed else FAILED

    def _is_over(self) -> bool:
        """Without a single place it waits for some, unless it drains or places were given up."""
        gone = not self._tasks and (self._draining.is_set() or not self._kept)
        return gone or self._fault is not None

    def _note_end(self, task: asyncio.Task[bool]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            self._fault = self._fault or task.exception()
            self._kept = self._kept and (self._fault is not None or task.result())
        self._changed.set()

    async def _tend(self, place: Place) -> bool:
        """One place: a child after the other. False when it is given up."""
        restarts = Restarts(self._plan.restarts)
        while not place.over.is_set():
            wait_s = await self._raise_one(place, restarts)
            if wait_s is None:
                if place in self._places:
                    self._places.remove(place)
                return False
            with suppress(TimeoutError):
                await asyncio.wait_for(place.over.wait(), wait_s or 0.001)
        return True

    async def _raise_one(self, place: Place, restarts: Restarts) -> float | None:
        """From a child's start to its burial; how long to wait then, None to give up."""
        try:
            child = await self._start(f"{self._plan.name}.{next(self._numbers)}")
        except OSError as error:  # no memory or no process left for it: that may pass
            log.error("child not started", error=str(error))  # noqa: TRY400 - no fault of the code
            return restarts.after(0.0, ready=False)
        code = await self._attend(place, child)
        await self._tell_death(child, code)
        if child.leaving:
            return 0.0
        wait_s = restarts.after(child.lived_s, ready=child.ready)
        if wait_s is None:
            log.error("child keeps dying before it is ready: given up", times=restarts.unready)
        return wait_s

    async def _attend(self, place: Place, child: Ward) -> int:
        log.info("child started", child=child.name, pid=child.pid)
        self._children.add(child)
        place.child = child
        if place.over.is_set():
            child.drain()
            self._insist(child)
        try:
            return await child.wait()
        except asyncio.CancelledError:
            child.kill()
            raise
        finally:
            self._children.discard(child)
            del self._silent[child.name]
            place.child = None

    async def _tell_death(self, child: Ward, code: int) -> None:
        tell = log.info if code == 0 and child.leaving else log.error
        tell("child ended", child=child.name, pid=child.pid, code=code, ready=child.ready)
        # Without a server it cannot be told: then the leases run out by themselves.
        bound_s = END_S if self._draining.is_set() else None
        try:
            await asyncio.wait_for(self._bury(child.name), bound_s)
        except Exception as error:  # noqa: BLE001 - nothing of it may stop the next start
            log.warning("leases not given back", child=child.name, error=str(error))

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(LOOK_S)
            for child in [child for child in self._children if not child.leaving]:
                if self._plan.memory is not None:
                    self._check_memory(child, self._plan.memory)
                if self._plan.silence_s is not None:
                    self._check_silence(child, self._plan.silence_s)

    def _check_silence(self, child: Ward, bound: float) -> None:
        """Its leases have run out, or will; a supervisor that stood still itself looks again."""
        self._silent[child.name] += 1 if child.silent_s > bound else -self._silent[child.name]
        if self._silent[child.name] >= SILENT_LOOKS:
            silent_s = round(child.silent_s, 1)
            log.error("child hangs: killed", child=child.name, pid=child.pid, silent_s=silent_s)
            child.kill()

    def _check_memory(self, child: Ward, bound: int) -> None:
        used = child.memory()
        if used is not None and used > bound:
            log.warning("child over its memory", child=child.name, memory=used, bound=bound)
            child.drain()
            self._insist(child)

    def _insist(self, child: Ward) -> None:
        """A child that was told to go is gone when the grace is over."""
        loop = asyncio.get_running_loop()
        loop.call_later(self._plan.grace_s, self._make_sure, child)

    async def _end_children(self) -> None:
        await self._draining.wait()
        log.info("draining", children=len(self._children), grace_s=self._plan.grace_s)
        for child in self._children:
            child.drain()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._ending.wait(), self._plan.grace_s)
        for child in list(self._children):
            self._make_sure(child)

    def _make_sure(self, child: Ward) -> None:
        if child.alive:
            log.error("child killed", child=child.name, pid=child.pid)
            self._killed = self._draining.is_set()
            child.kill()
