"""Every sink, by its URL, in a place of its own for each test. A new sink joins by a line here.

What needs a server has one for the session, and a table, a collection or a key for each test.
"""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

import pytest

from skitter.sinks import open_sink
from tests.servers.mongo import MongoProcess

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from skitter.sinks import Sink

Fixture = Any  # what a fixture of this name gives
SINKS: dict[str, Callable[[Callable[[str], Fixture]], str]] = {
    "sqlite": lambda use: f"sqlite:{use('tmp_path') / 'new' / 'items of ü.db'}",
    "jsonl": lambda use: f"jsonl:{use('tmp_path') / 'new' / 'data of ü'}",
    "csv": lambda use: f"csv:{use('tmp_path')}?segment_mb=0.01",
    "postgres": lambda use: f"{use('postgres_server').url}?table=items_{_unique()}",
    "mongo": lambda use: f"{use('mongo_server').url}?collection=items_{_unique()}",
    "stream": lambda use: f"{use('redis_server').url}?stream=items_{_unique()}",
    "list": lambda use: f"{use('valkey_server').url}?list=items_{_unique()}",
}


@pytest.fixture(scope="session")
def mongo_server() -> Iterator[MongoProcess]:
    with MongoProcess() as server:
        yield server


@pytest.fixture(params=list(SINKS))
def sink_url(request: pytest.FixtureRequest) -> str:
    return SINKS[request.param](request.getfixturevalue)


@pytest.fixture
async def sink(sink_url: str) -> AsyncIterator[Sink]:
    opened = open_sink(sink_url)
    await opened.open()
    yield opened
    await opened.close()


def _unique() -> str:
    return uuid.uuid4().hex[:12]
