"""The client processes of a round: started, killed, stopped past their lease, replaced.

Each new process has a name of its own. Deaths are noted before the signal is sent, since nothing
that a client did can lie after its end.
"""

from __future__ import annotations

import asyncio
import json
import signal
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from skitter.frontier.lease import boot_ms
from tests.chaos.orders import LEASE_MS
from tests.chaos.web import SLOW_MS

if TYPE_CHECKING:
    from random import Random

    from tests.chaos.history import History
    from tests.chaos.nursery import Child, Nursery
    from tests.chaos.orders import Order


class Crew:
    def __init__(
        self, nursery: Nursery, order: Order, *, role: str, history: History, roll: Random
    ) -> None:
        self._nursery = nursery
        self._order = order
        self._role = role
        self._history = history
        self._roll = roll
        self._started = 0
        self._members: dict[str, Child] = {}
        self._stopped: set[str] = set()

    def start(self, *, reap: str = "") -> None:
        self._started += 1
        worker = f"w{self._started}"
        order = replace(self._order, worker=worker, reap=reap)
        self._members[worker] = self._nursery.start(self._role, order)

    async def kill_one(self, *, report: bool, restart_s: float, worker: str = "") -> str:
        """Kill a client at this very moment; its successor may know of the death and report it.

        Returns its name, or nothing if there was none to kill.
        """
        worker = worker or self._pick()
        if not worker:
            return ""
        child = self._members.pop(worker)
        self._history.note("kill", of=worker)
        child.signal(signal.SIGKILL)
        await child.wait(5)
        await asyncio.sleep(restart_s)
        self.start(reap=worker if report else "")
        return worker

    async def kill_in_flight(self, *, patience_s: float) -> None:
        """Kill a client that waits for a slow host's answer, as soon as there is one."""
        for _ in range(int(patience_s / 0.01)):
            for worker in sorted(set(self._members) - self._stopped):
                if self._is_waiting(worker):
                    await self.kill_one(report=True, restart_s=0, worker=worker)
                    return
            await asyncio.sleep(0.01)

    def _is_waiting(self, worker: str) -> bool:
        path = Path(self._order.folder) / f"{worker}.history"
        # What follows the last line end is a line that is being written.
        lines = path.read_text().split("\n")[-21:-1] if path.exists() else []
        writes = [line for line in map(json.loads, lines) if line["event"] == "write"]
        return any(w["ms"] >= SLOW_MS and boot_ms() < w["at"] + w["ms"] / 2 for w in writes)

    async def stop_one(self, *, more_ms: float) -> None:
        """Freeze a client until its leases have run out, then let it go on."""
        worker = self._pick()
        if not worker:
            return
        child = self._members[worker]
        self._stopped.add(worker)
        child.signal(signal.SIGSTOP)
        await asyncio.sleep((LEASE_MS + more_ms) / 1000)
        child.signal(signal.SIGCONT)
        self._stopped.discard(worker)

    async def dismiss(self) -> None:
        """Let all end what they have in hand, and note those that died by themselves."""
        for worker, child in self._members.items():
            if child.gone:
                self._history.note("kill", of=worker)
            child.signal(signal.SIGTERM)
        for child in self._members.values():
            if not await child.wait(5):
                child.kill()

    async def await_all(self, *, timeout_s: float) -> list[str]:
        """Wait for all to leave by themselves; the names of those that have not."""
        deadline = asyncio.get_running_loop().time() + timeout_s
        for child in self._members.values():
            await child.wait(deadline - asyncio.get_running_loop().time())
        return [worker for worker, child in self._members.items() if not child.gone]

    def revive(self) -> None:
        """Replace those that are gone by themselves, as a supervisor would."""
        for worker in [name for name, child in self._members.items() if child.gone]:
            self._history.note("kill", of=worker)
            del self._members[worker]
            self.start()

    def destroy(self) -> None:
        for child in self._members.values():
            child.kill()

    def _pick(self) -> str:
        free = sorted(set(self._members) - self._stopped)
        return self._roll.choice(free) if free else ""
