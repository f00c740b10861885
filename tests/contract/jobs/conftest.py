"""Jobs on each kind of database; the frontier is on one server, and on a cluster once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from skitter.frontier import Config, Frontier
from skitter.jobs.service import Jobs
from skitter.store import Store
from tests.contract.jobs.bench import Bench
from tests.stores import database_url, sqlite_url

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

KINDS = {
    "sqlite": ("sqlite", "valkey_server", 1),
    "postgres": ("postgres", "valkey_server", 1),
    "cluster": ("sqlite", "redis_cluster", 16),
}


@pytest.fixture(params=list(KINDS))
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def server_url(request: pytest.FixtureRequest, kind: str) -> str:
    return str(request.getfixturevalue(KINDS[kind][1]).url)


@pytest.fixture
def store_url(request: pytest.FixtureRequest, kind: str, tmp_path: Path) -> str:
    if KINDS[kind][0] == "sqlite":
        return sqlite_url(tmp_path)
    return database_url(request.getfixturevalue("postgres_server"))


@pytest.fixture
async def bench(kind: str, server_url: str, store_url: str, namespace: str) -> AsyncIterator[Bench]:
    shards = KINDS[kind][2]
    config = Config(delay_ms=0)
    async with (
        await Frontier.connect(
            server_url, worker="w1", namespace=namespace, shards=shards, config=config
        ) as frontier,
        await Store.open(store_url) as store,
    ):
        yield Bench(frontier, store, Jobs(frontier, store))
