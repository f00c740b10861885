"""A child process as its supervisor sees it: started, ready, leaving, gone."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from skitter.worker.pulse import READY

if TYPE_CHECKING:
    from skitter.worker.orders import Orders

PAGE_BYTES = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


class Nursling:
    """One child. Its stdin carries the orders and then stays open as its lifeline."""

    def __init__(self, name: str, process: asyncio.subprocess.Process) -> None:
        self.name = name
        self.ready = False
        self.leaving = False
        self._process = process
        self._begun = self._heard = time.monotonic()
        self._listening = asyncio.create_task(self._listen())

    @classmethod
    async def start(cls, orders: Orders) -> Nursling:
        """Start `python -m skitter.worker.child`, in a group of its own: Ctrl-C is the parent's."""
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "skitter.worker.child",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            process_group=0,
        )
        child = cls(orders.name, process)
        if process.stdin:
            process.stdin.write(orders.line())
            with contextlib.suppress(ConnectionError):  # it is dead already: `wait` says so
                await process.stdin.drain()
        return child

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process.returncode is None

    @property
    def lived_s(self) -> float:
        """How long ago it was started."""
        return time.monotonic() - self._begun

    @property
    def silent_s(self) -> float:
        """How long ago its event loop was heard of; 0 before it is ready, for it may load long."""
        return time.monotonic() - self._heard if self.ready else 0.0

    def memory(self) -> int | None:
        """The bytes it has resident; None where the system does not say."""
        return resident_bytes(self.pid) if self.alive else None

    def drain(self) -> None:
        """Tell it to finish and go."""
        self.leaving = True
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it at once."""
        self.leaving = True
        self._signal(signal.SIGKILL)

    async def wait(self) -> int:
        """Its exit code, when it has ended."""
        code = await self._process.wait()
        self._listening.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._listening
        return code

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):
            self._process.send_signal(number)

    async def _listen(self) -> None:
        """Its stdout has a line that it is ready, and its beats."""
        pipe = self._process.stdout
        while pipe and (line := await pipe.readline()):
            self._heard = time.monotonic()
            self.ready = self.ready or line == READY


def resident_bytes(pid: int) -> int | None:
    """The memory of a process, as Linux tells it."""
    try:
        fields = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()
    except OSError:
        return None
    return int(fields[1]) * PAGE_BYTES
