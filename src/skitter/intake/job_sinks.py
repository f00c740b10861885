"""Items to the sinks that their jobs name, and to the worker's where a job names none.

A job's sinks are opened with its first items, shared by jobs that name the same, bounded in number,
and closed when nothing has come for a while. One that cannot be used holds back the items that are
for it, not the others'. Where no job has sinks of its own, a put costs one look at a set.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import structlog

from skitter.errors import SinkError, UnknownJob
from skitter.masking import mask_text
from skitter.sinks import open_sink

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skitter.frontier.live_jobs import LiveJobs
    from skitter.sinks import Item, Sink

log = structlog.get_logger(__name__)

MOST_OPEN = 16
IDLE_S = 30.0
REMEMBERED = 10_000
Places = tuple[str, ...]


@dataclass
class _Member:
    """A sink of some jobs. users: puts that are under way."""

    sink: Sink
    opened: asyncio.Lock = field(default_factory=asyncio.Lock)
    is_open: bool = False
    users: int = 0
    used_at: float = 0.0


class JobSinks:
    """A sink that passes items on by their jobs."""

    def __init__(
        self, usual: Sink, jobs: LiveJobs, *, most: int = MOST_OPEN, idle_s: float = IDLE_S
    ) -> None:
        self._usual = usual
        self._jobs = jobs
        self._most = most
        self._idle_s = idle_s
        self._plain: set[str] = set()
        self._members: dict[Places, _Member] = {}
        self._ending = asyncio.Event()
        self._sweeping: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Open the worker's own sink."""
        await self._usual.open()
        self._sweeping = asyncio.create_task(self._sweep(), name="skitter job sinks")

    async def put(self, items: Sequence[Item]) -> None:
        """Store items where their jobs say; all of them, or the first error is raised."""
        jobs = {item.job for item in items}
        if jobs <= self._plain:
            return await self._usual.put(items)
        places = {job: await self._places(job) for job in jobs}
        groups: dict[Places, list[Item]] = defaultdict(list)
        for item in items:
            groups[places[item.job]].append(item)
        puts = (self._put(place, group) for place, group in groups.items())
        found = await asyncio.gather(*puts, return_exceptions=True)
        for error in found:
            if isinstance(error, BaseException):
                raise error
        return None

    async def close(self) -> None:
        """Close all that are open."""
        self._ending.set()
        if self._sweeping:
            await self._sweeping
        try:
            for place in list(self._members):
                await self._close(place)
        finally:
            await self._usual.close()

    async def _places(self, job: str) -> Places:
        """A job's own sinks; none for most."""
        try:
            places = (await self._jobs.known(job)).job.sinks
        except UnknownJob:
            return ()
        if not places:
            if len(self._plain) >= REMEMBERED:
                self._plain.clear()
            self._plain.add(job)
        return places

    async def _put(self, places: Places, items: Sequence[Item]) -> None:
        if not places:
            return await self._usual.put(items)
        member = await self._member(places)
        member.users += 1
        try:
            async with member.opened:
                if not member.is_open:
                    await member.sink.open()
                    member.is_open = True
            await member.sink.put(items)
        finally:
            member.users -= 1
            member.used_at = time.monotonic()
        return None

    async def _member(self, places: Places) -> _Member:
        if places not in self._members:
            self._members[places] = _Member(open_sink(places), used_at=time.monotonic())
            idle = [place for place in self._idle() if place != places]
            for place in idle[: max(0, len(self._members) - self._most)]:
                await self._close(place)
        return self._members[places]

    def _idle(self) -> list[Places]:
        """Those that nobody uses, the longest unused first."""
        unused = [place for place, member in self._members.items() if not member.users]
        return sorted(unused, key=lambda place: self._members[place].used_at)

    async def _sweep(self) -> None:
        """Close what is idle, now and then. It is never cut off: a sink has to close whole."""
        while not self._ending.is_set():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._ending.wait(), self._idle_s / 2)
            for place in self._idle():
                if time.monotonic() - self._members[place].used_at > self._idle_s:
                    await self._close(place)

    async def _close(self, place: Places) -> None:
        member = self._members.pop(place)
        if not member.is_open:
            return
        try:
            await member.sink.close()
        except SinkError as error:
            shown = [mask_text(url) for url in place]
            log.warning("a job's sink did not close well", sinks=shown, error=str(error))
