"""The heartbeat: says every other second what this process is doing, while it does anything."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any

import structlog

from skitter.errors import FrontierError

if TYPE_CHECKING:
    from collections.abc import Callable

    from skitter.frontier import Frontier

log = structlog.get_logger(__name__)

LIVES = 5  # beats that may be missed


class Heart:
    """Beats under one name. `tell` gives what the process is doing."""

    def __init__(
        self, frontier: Frontier, *, name: str, every_s: float, tell: Callable[[], dict[str, Any]]
    ) -> None:
        self._frontier = frontier
        self._name = name
        self._every_s = every_s
        self._tell = tell

    async def run(self) -> None:
        """Beat until cancelled. A server that is away is no reason to stop."""
        while True:
            try:
                await self.beat()
            except FrontierError as error:
                log.warning("heartbeat not told", error=str(error))
            await asyncio.sleep(self._every_s)

    async def beat(self) -> None:
        """Say it once."""
        ttl_ms = int(self._every_s * LIVES * 1000)
        await self._frontier.workers.beat(self._name, self._tell(), ttl_ms=ttl_ms)

    async def stop(self) -> None:
        """The process ends: it is listed no more."""
        with contextlib.suppress(FrontierError):
            await self._frontier.workers.forget(self._name)
