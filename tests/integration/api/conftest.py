"""The API on a real server and a real store, asked over HTTP with keys of every role."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from skitter.services import open_services
from skitter.settings import Settings
from tests.integration.api.place import Place, serving, settings_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from skitter.services import Services
    from tests.servers import ServerProcess


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.integration)


@pytest.fixture
def server_url(valkey_server: ServerProcess) -> str:
    return valkey_server.url


@pytest.fixture
def settings(server_url: str, namespace: str, tmp_path: Path) -> Settings:
    return settings_of(server_url, namespace, tmp_path)


@pytest.fixture
async def services(settings: Settings) -> AsyncIterator[Services]:
    async with open_services(settings) as opened:
        yield opened


@pytest.fixture
async def place(services: Services) -> AsyncIterator[Place]:
    async with serving(services) as begun:
        yield begun
