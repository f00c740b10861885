"""Those who follow events: how many there may be, and what each is sent.

A job's followers get its figures when they changed, looked at once a second for all of them; every
event has an id, by which a follower that was cut off goes on where it was. A quiet stream says
every few seconds that it lives.
"""

from __future__ import annotations

import asyncio
import json
import time
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

from skitter.access_errors import TooManyAtOnce
from skitter.errors import SkitterError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from skitter.access import Principal
    from skitter.frontier.events import JobEvent
    from skitter.jobs.view import JobView
    from skitter.services import Services

HEARTBEAT_S, LOOK_S, END_S = 10.0, 1.0, 15.0
QUEUED = 100
_LAST = b""


class Listeners:
    """Bounded in number, and all of them ended at once when the server ends."""

    def __init__(self, services: Services, *, most: int) -> None:
        self._services = services
        self._most = most
        self._ending = asyncio.Event()
        self._looks: dict[str, tuple[float, asyncio.Task[JobView]]] = {}
        self.count = 0

    def begin(self) -> None:
        """Take a place; raises where there is none."""
        if self.count >= self._most:
            raise TooManyAtOnce(most=self._most, what="listeners", setting="api.max_listeners")
        self.count += 1

    def end_all(self) -> None:
        """Let every stream end, now."""
        self._ending.set()

    async def close(self) -> None:
        """Leave nothing behind that would ask services which are closed."""
        self.end_all()
        looks = [task for _, task in self._looks.values()]
        for task in looks:
            task.cancel()
        await asyncio.gather(*looks, return_exceptions=True)

    async def follow(self, who: Principal, *, after: str, job: str | None) -> AsyncIterator[bytes]:
        """Server-sent events; call `begin` before. It ends with the job, if it is one's."""
        queue: asyncio.Queue[bytes] = asyncio.Queue(QUEUED)
        try:
            async with _running(self._pump(queue, who, after=after, job=job)) as pumping:
                if job is not None:
                    async with _running(self._watch(queue, job)):
                        async for chunk in self._chunks(queue, pumping):
                            yield chunk
                else:
                    async for chunk in self._chunks(queue, pumping):
                        yield chunk
        finally:
            self.count -= 1

    async def _chunks(
        self, queue: asyncio.Queue[bytes], pumping: asyncio.Task[None]
    ) -> AsyncIterator[bytes]:
        yield b"retry: 2000\n\n"
        while not self._ending.is_set() and not (pumping.done() and queue.empty()):
            ending = asyncio.ensure_future(self._ending.wait())
            getting = asyncio.ensure_future(queue.get())
            try:
                await asyncio.wait(
                    {ending, getting},
                    timeout=HEARTBEAT_S,
                    return_when=asyncio.FIRST_COMPLETED,
                )
            finally:
                ending.cancel()
                if not getting.done():
                    getting.cancel()
            chunk = getting.result() if getting.done() and not getting.cancelled() else None
            if chunk == _LAST:
                return
            yield b": alive\n\n" if chunk is None else chunk

    async def _pump(
        self, queue: asyncio.Queue[bytes], who: Principal, *, after: str, job: str | None
    ) -> None:
        """What happens to jobs, as far as it is theirs."""
        async for event in self._services.jobs.events(after=after, job=job):
            if not who.sees(event.project):
                continue
            await queue.put(_event(event))
            if job is not None and event.kind == "ended":
                await self._tell_last(queue, job)

    async def _watch(self, queue: asyncio.Queue[bytes], job: str) -> None:
        """The job's figures, when they are not what they were."""
        told: dict[str, Any] = {}
        while not (told and told["state"] == "ended"):
            if told:
                await asyncio.sleep(LOOK_S)
            fields = _progress(await self.look(job))
            if fields != told:
                # Who came too late for the end waits for nothing; others for the word of it, which
                # comes when its items are seen to, if there is an orchestrator to do that.
                patience_s = END_S if told else 0.0
                told = fields
                await queue.put(_sent("progress", fields))
        await asyncio.sleep(patience_s)
        await queue.put(_LAST)

    async def _tell_last(self, queue: asyncio.Queue[bytes], job: str) -> None:
        with suppress(SkitterError):
            await queue.put(_sent("progress", _progress(await self._services.jobs.show(job))))
        await queue.put(_LAST)

    async def look(self, job: str) -> JobView:
        """A job as it was at most a second ago, whoever asks."""
        at, task = self._looks.get(job, (0.0, None))
        if task is None or time.monotonic() - at >= LOOK_S * 0.9:
            for old in [name for name, (when, _) in self._looks.items() if _stale(when)]:
                del self._looks[old]
            task = asyncio.create_task(self._services.jobs.show(job))
            self._looks[job] = (time.monotonic(), task)
        return await asyncio.shield(task)


@asynccontextmanager
async def _running(work: Any) -> AsyncIterator[asyncio.Task[None]]:
    """Something beside the block, ended with it."""
    task = asyncio.create_task(work)
    try:
        yield task
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError, SkitterError):
            await task


def _stale(when: float) -> bool:
    return time.monotonic() - when > 10 * LOOK_S


def _progress(view: JobView) -> dict[str, Any]:
    told = view.to_json()
    return {name: told[name] for name in ("id", "state", "outcome", "priority", "figures", "hint")}


def _event(event: JobEvent) -> bytes:
    return _sent(event.kind, event.to_json(), event_id=event.id)


def _sent(kind: str, fields: dict[str, Any], *, event_id: str = "") -> bytes:
    head = f"id: {event_id}\n" if event_id else ""
    return f"{head}event: {kind}\ndata: {json.dumps(fields)}\n\n".encode()
