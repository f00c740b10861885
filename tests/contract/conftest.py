"""What every contract suite shares: its mark, one PostgreSQL, a store on each kind of database."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from skitter.store import Store
from tests.servers.postgres import PostgresProcess
from tests.stores import STORES, database_url, sqlite_url

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.contract)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresProcess]:
    with PostgresProcess() as server:
        yield server


@pytest.fixture(params=STORES)
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return sqlite_url(tmp_path)
    return database_url(request.getfixturevalue("postgres_server"))


@pytest.fixture
async def store(store_url: str) -> AsyncIterator[Store]:
    async with await Store.open(store_url) as opened:
        yield opened
