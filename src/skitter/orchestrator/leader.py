"""Which orchestrator leads: the holder of a lock that runs out, with a number that only grows.

The lock in Redis decides who works; a process that lost it without noticing is stopped by the
number. `confirm` asks the server right before a step that must not be done by two; what is
written to SQL carries the term instead (term.py), which the database itself compares.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import time
from typing import TYPE_CHECKING

import structlog

from skitter.errors import FrontierError
from skitter.orchestrator.errors import Superseded

if TYPE_CHECKING:
    from skitter.frontier import Frontier

log = structlog.get_logger(__name__)

LOCK = "orchestrator"
REGISTER = 0
LEASE_S, RENEW_S, ASK_S = 5.0, 1.5, 0.5
MARGIN_S = 1.0


class Leader:
    """One process's part in it. `run` keeps the lock; `leading` says whether it is held now."""

    def __init__(
        self,
        frontier: Frontier,
        *,
        name: str | None = None,
        lease_s: float = LEASE_S,
        renew_s: float = RENEW_S,
    ) -> None:
        self.fence = 0
        self._shards = frontier.shards
        self._name = f"{name or frontier.worker}.{secrets.token_hex(4)}"
        self._lease_s = lease_s
        self._renew_s = renew_s
        self._sure_until = 0.0
        self._elected = asyncio.Event()

    @property
    def leading(self) -> bool:
        """Whether no other can have the lock yet."""
        return self.fence > 0 and time.monotonic() < self._sure_until

    async def elected(self) -> int:
        """Wait until this one leads; the fence of it."""
        while not self.leading:
            self._elected.clear()
            await self._elected.wait()
        return self.fence

    async def run(self) -> None:
        """Hold the lock, or try for it, until cancelled; then let go of it."""
        try:
            while True:
                await self._try()
                await asyncio.sleep(self._renew_s if self.fence else min(ASK_S, self._renew_s))
        finally:
            await self._resign()

    async def confirm(self) -> int:
        """The fence, if the lock is still held; raises Superseded if another leads."""
        fence = self.fence
        if not await self.campaign() or self.fence != fence:
            raise Superseded
        return fence

    async def campaign(self) -> bool:
        """Ask for the lock, or for more time, once."""
        asked = time.monotonic()
        hold_ms = int(self._lease_s * 1000)
        fence = int(await self._shards.run(REGISTER, "lock", LOCK, self._name, hold_ms))
        if fence != self.fence:
            log.info("leads" if fence else "leads no more", fence=fence or self.fence)
        self.fence = fence
        self._sure_until = asked + self._lease_s - MARGIN_S if fence else 0.0
        if fence:
            self._elected.set()
        return fence > 0

    async def _try(self) -> None:
        try:
            # A server that is away keeps no lock: waiting longer than a lease is of no use.
            await asyncio.wait_for(self.campaign(), self._lease_s)
        except (FrontierError, TimeoutError) as error:
            log.warning("the lock cannot be asked for", error=str(error))

    async def _resign(self) -> None:
        self._sure_until = 0.0
        if self.fence:
            with contextlib.suppress(FrontierError, OSError, TimeoutError):
                await asyncio.wait_for(
                    self._shards.run(REGISTER, "lock", LOCK, self._name, 0), self._renew_s
                )
        self.fence = 0
