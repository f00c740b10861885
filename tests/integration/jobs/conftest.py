"""Workers, a store and the loops of an orchestrator, on one frontier."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.integration.worker.crew import Crew

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.servers import ServerProcess


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.integration)


@pytest.fixture
def server_url(valkey_server: ServerProcess) -> str:
    return valkey_server.url


@pytest.fixture
async def crew(server_url: str, namespace: str, tmp_path: Path) -> AsyncIterator[Crew]:
    async with Crew(server_url, namespace, tmp_path) as crew:
        yield crew
