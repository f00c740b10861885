"""The loops that any process may run: reaper, completer, parker. One at a time for each shard.

A fenced lock keeps two caretakers from doing the same work; it is not what makes the work safe:
every step is one script that checks what it needs by itself.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from typing import TYPE_CHECKING

import structlog

from skitter.errors import FrontierError
from skitter.frontier.completer import Completer
from skitter.frontier.parker import Parker

if TYPE_CHECKING:
    from skitter.frontier.frontier import Frontier

log = structlog.get_logger(__name__)

REAPED_AT_ONCE = 500


class Reaper:
    """Takes back leases that ran out."""

    def __init__(self, frontier: Frontier) -> None:
        self._shards = frontier.shards

    async def tend(self, shard: int) -> None:
        """Reap one shard."""
        while True:
            reaped, buried = await self._shards.run(shard, "reap", "", REAPED_AT_ONCE)
            if int(reaped):
                log.info("leases taken back", shard=shard, reaped=int(reaped), buried=int(buried))
            if int(reaped) < REAPED_AT_ONCE:
                return


class Caretaker:
    """Tends all shards whose lock it holds, every tick."""

    def __init__(self, frontier: Frontier, *, tick_s: float = 0.5) -> None:
        self._shards = frontier.shards
        self._tick_s = tick_s
        self._name = f"{frontier.worker}.{secrets.token_hex(4)}"
        self._duties = (Reaper(frontier), Completer(frontier), Parker(frontier))

    async def run(self) -> None:
        """Tend until cancelled; a failing duty is logged, and tried again at the next tick."""
        try:
            while True:
                await self.tend()
                await asyncio.sleep(self._tick_s)
        finally:
            with contextlib.suppress(FrontierError, OSError):
                await self._unlock()

    async def tend(self) -> None:
        """One tick over all shards."""
        for shard in range(self._shards.count):
            try:
                if await self._lock(shard):
                    for duty in self._duties:
                        await duty.tend(shard)
            except FrontierError as error:
                log.warning("caretaking failed", shard=shard, error=str(error))

    async def _lock(self, shard: int) -> int:
        # Short, so that another goes on soon after this one has died; two at once do no harm.
        hold_ms = max(1500, int(self._tick_s * 3000))
        return int(await self._shards.run(shard, "lock", "caretaker", self._name, hold_ms))

    async def _unlock(self) -> None:
        for shard in range(self._shards.count):
            await self._shards.run(shard, "lock", "caretaker", self._name, 0)
