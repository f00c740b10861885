"""The orchestrator: any number of them run, and one leads.

All of them take care of the frontier (its own locks keep them apart), stand for election and say
how they are. The leader has duties: each is a loop of its own, begun with the term and ended with
it. What a duty does bears being cut off anywhere, for a leader may be killed anywhere.
"""

from __future__ import annotations

import asyncio
import os
import socket
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import structlog

from skitter.errors import SkitterError
from skitter.frontier import Caretaker
from skitter.orchestrator.alerter import rules_of
from skitter.orchestrator.duties import Duties, Services
from skitter.orchestrator.duty import Lead, Record
from skitter.orchestrator.errors import Superseded
from skitter.orchestrator.leader import Leader
from skitter.orchestrator.status import delete_status, write_status
from skitter.orchestrator.term import take_term

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

log = structlog.get_logger(__name__)

LOOK_S = 0.2
SAY_S = 2.0
AGAIN_S = 1.0


class Orchestrator:
    """One process's. `run` it until it is cancelled."""

    def __init__(self, services: Services, *, duties: Duties | None = None) -> None:
        settings = services.settings
        self.name = settings.orchestrator.id or f"{socket.gethostname()}-{os.getpid()}"
        self.leader = Leader(services.frontier, name=self.name)
        self.records: dict[str, Record] = {}
        self.term = 0
        rules_of(settings.alerts)  # what is wrong with them is told before anything begins
        self._services = services
        self._duties = duties or Duties(services)
        self._since = time.time()

    async def run(self) -> None:
        """Stand, lead, care and tell until cancelled."""
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self.leader.run())
                group.create_task(self._again("caretaker", self._care))
                group.create_task(self._again("leading", self._lead))
                group.create_task(self._again("telling", self._tell))
        finally:
            with suppress(SkitterError, TimeoutError):
                store = self._services.store
                forget = store.write(lambda found: delete_status(found, self.name))
                await asyncio.wait_for(forget, SAY_S)

    async def _again(self, name: str, work: Callable[[], Awaitable[object]]) -> None:
        """Work that must not end; what goes wrong in it is told, and it begins anew."""
        while True:
            try:
                await work()
            except Exception:
                log.exception("begins anew", part=name)
            await asyncio.sleep(AGAIN_S)

    async def _care(self) -> None:
        settings = self._services.settings
        tick_s = settings.frontier.caretaker_tick_s
        await Caretaker(self._services.frontier, tick_s=tick_s).run()

    async def _lead(self) -> None:
        await self.leader.elected()
        self.term = await self._services.store.write(lambda found: take_term(found, self.name))
        if not await self.leader.campaign():  # the lock was lost while the store was slow
            return
        log.info("a term begins", term=self.term, fence=self.leader.fence)
        await self._say()
        lead = Lead(self.leader, self.term)
        tasks = [
            asyncio.create_task(duty.run()) for duty in self._duties.all(lead, records=self.records)
        ]
        try:
            while self.leader.leading and not any(task.done() for task in tasks):
                await asyncio.wait(tasks, timeout=LOOK_S, return_when=asyncio.FIRST_COMPLETED)
        finally:
            log.info("a term ends", term=self.term)
            await _end(tasks)

    async def _tell(self) -> None:
        while True:
            await self._say()
            await asyncio.sleep(SAY_S)

    async def _say(self) -> None:
        said = self.said()
        await self._services.store.write(lambda found: write_status(found, self.name, said))

    def said(self) -> dict[str, Any]:
        """For `skitter orchestrator status`."""
        return {
            "pid": os.getpid(),
            "host": socket.gethostname(),
            "since": self._since,
            "leading": self.leader.leading,
            "fence": self.leader.fence,
            "term": self.term,
            "loops": {name: record.to_json() for name, record in self.records.items()},
        }


async def _end(tasks: list[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    for ended in await asyncio.gather(*tasks, return_exceptions=True):
        if isinstance(ended, Exception) and not isinstance(ended, Superseded):
            log.error("a loop ended", error=str(ended))
