"""A duty: what a leader does again and again, timed, counted, and begun anew when it fails."""

from __future__ import annotations

import asyncio
import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Protocol

import structlog

from skitter.orchestrator.errors import Superseded

if TYPE_CHECKING:
    from skitter.orchestrator.leader import Leader

log = structlog.get_logger(__name__)

LONGEST_WAIT_S = 30.0


class Tending(Protocol):
    """One round of a loop; it bears being cut off anywhere."""

    async def tend(self) -> object: ...


@dataclass(slots=True)
class Lead:
    """What a duty needs to know of the leadership that it is done under."""

    leader: Leader
    term: int

    async def confirm(self) -> int:
        """Right before a step that two may not take; raises Superseded."""
        return await self.leader.confirm()


@dataclass(slots=True)
class Record:
    """How a duty goes. Times are seconds since 1970."""

    runs: int = 0
    failures: int = 0
    last_at: float = 0.0
    took_s: float = 0.0
    error: str = ""
    error_at: float = 0.0

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


class Duty:
    """Runs one loop until it is cancelled, or another leads."""

    def __init__(self, name: str, loop: Tending, *, every_s: float, record: Record) -> None:
        self.name = name
        self.record = record
        self._loop = loop
        self._every_s = every_s
        self._failed = 0

    async def run(self) -> None:
        """Tend again and again; raises Superseded."""
        while True:
            await self.tend()
            wait_s = self._every_s * 2 ** min(self._failed, 10)
            await asyncio.sleep(min(wait_s, max(LONGEST_WAIT_S, self._every_s)))

    async def tend(self) -> None:
        """One round. Whatever goes wrong in it is told, and is no reason to stop."""
        begun = time.monotonic()
        try:
            await self._loop.tend()
            self._failed = 0
            self.record.error = ""
        except Superseded:
            raise
        except Exception as error:
            self._failed += 1
            self.record.failures += 1
            self.record.error = f"{type(error).__name__}: {error}"[:500]
            self.record.error_at = time.time()
            log.exception("loop failed", loop=self.name)
        finally:
            self.record.runs += 1
            self.record.last_at = time.time()
            self.record.took_s = round(time.monotonic() - begun, 3)
