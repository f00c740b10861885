from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.integration.worker.crew import Crew

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.servers import ServerProcess


@pytest.fixture
def server_url(valkey_server: ServerProcess) -> str:
    """Workers are told of one server; that they run on every kind is the frontier's to show."""
    return valkey_server.url


@pytest.fixture
async def crew(server_url: str, namespace: str, tmp_path: Path) -> AsyncIterator[Crew]:
    """A frontier of the test's own, and workers on it; those left at the end are killed."""
    async with Crew(server_url, namespace, tmp_path) as crew:
        yield crew
