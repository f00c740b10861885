"""The frontier on every kind of server; at the end counters are recounted and leaks looked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from skitter.frontier import Config
from tests.contract.frontier.crawl import Backend, Crawl

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

SERVERS = {
    "valkey": ("valkey_server", 1),
    "valkey in 4 shards": ("valkey_server", 4),
    "redis": ("redis_server", 1),
    "cluster": ("redis_cluster", 16),
}


@pytest.fixture(params=list(SERVERS))
def backend(request: pytest.FixtureRequest) -> Backend:
    fixture, shards = SERVERS[request.param]
    return Backend(request.param, request.getfixturevalue(fixture).url, shards)


@pytest.fixture
def server_url(backend: Backend) -> str:
    return backend.url


@pytest.fixture
async def open_crawl(
    backend: Backend,
    server_url: str,  # noqa: ARG001 - the namespace fixture looks after this server
    namespace: str,
) -> AsyncIterator[Callable[..., Awaitable[Crawl]]]:
    """Opens the frontier with settings of the test's choice; wound up and closed at the end."""
    opened: list[Crawl] = []

    async def open_one(**settings: float) -> Crawl:
        config = Config(**({"delay_ms": 0} | settings))  # type: ignore[arg-type]
        opened.append(await Crawl.open(backend, namespace, config=config))
        return opened[-1]

    yield open_one
    try:
        for crawl in opened:
            await crawl.wind_up()
    finally:
        for crawl in opened:
            await crawl.close()


@pytest.fixture
async def crawl(open_crawl: Callable[..., Awaitable[Crawl]]) -> Crawl:
    """Hosts without a delay."""
    return await open_crawl()


@pytest.fixture
async def polite(open_crawl: Callable[..., Awaitable[Crawl]]) -> Crawl:
    """Hosts with a second between requests, five of them in a turn."""
    return await open_crawl(delay_ms=1000)
