from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any, Protocol

import aiohttp
import pytest
import uvloop

from skitter.resolve import Resolver, parse_rules

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from skitter.lab.run import LabAddress


def pytest_asyncio_loop_factories() -> dict[str, Callable[[], asyncio.AbstractEventLoop]]:
    """Every test on both loops, for the lab reaches through to their sockets."""
    return {"asyncio": asyncio.new_event_loop, "uvloop": uvloop.new_event_loop}


class Client(Protocol):
    """Opens an aiohttp session whose names lead to a lab."""

    async def __call__(self, lab: LabAddress, **options: Any) -> aiohttp.ClientSession: ...


@pytest.fixture
async def client() -> AsyncIterator[Client]:
    async with AsyncExitStack() as stack:

        async def start(lab: LabAddress, **options: Any) -> aiohttp.ClientSession:
            connector = aiohttp.TCPConnector(resolver=Resolver(parse_rules([lab.rule])), limit=0)
            session = aiohttp.ClientSession(connector=connector, **options)
            # aiohttp sends a GET again by itself after a reset, at once and without a word.
            session._retry_connection = False
            return await stack.enter_async_context(session)

        yield start
