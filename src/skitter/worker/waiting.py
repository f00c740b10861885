"""A frontier, however long its server takes to come up."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

import structlog

from skitter.errors import ServerUnavailable
from skitter.frontier.opening import open_frontier

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from skitter.frontier import Frontier
    from skitter.settings import Settings

log = structlog.get_logger(__name__)

PAUSE_S = 1.0


@asynccontextmanager
async def open_patiently(settings: Settings, *, worker: str) -> AsyncIterator[Frontier]:
    """Connect as soon as there is a server, and say what is waited for until then.

    Raises ServerUnavailable at once where waiting cannot help, such as a password that is refused.
    """
    async with AsyncExitStack() as stack:
        while True:
            try:
                opened = open_frontier(settings, worker=worker)
                frontier = await stack.enter_async_context(opened)
                break
            except ServerUnavailable as error:
                if error.waited_s + PAUSE_S < settings.redis.patience_s:
                    raise
                log.warning("still no server", server=error.server, reason=error.reason)
                await asyncio.sleep(PAUSE_S)
        yield frontier
