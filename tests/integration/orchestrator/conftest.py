from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from skitter.orchestrator.duty import Lead
from skitter.orchestrator.leader import Leader
from skitter.orchestrator.term import take_term
from skitter.services import Services, open_services
from skitter.settings import Settings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.servers import ServerProcess


@pytest.fixture
def server_url(valkey_server: ServerProcess) -> str:
    """One server: that scripts run on every kind is the frontier's to show."""
    return valkey_server.url


@pytest.fixture
def settings(server_url: str, namespace: str, tmp_path: Path) -> Settings:
    return Settings.model_validate(
        {
            "redis": {"url": server_url, "namespace": namespace},
            "store": {"url": f"sqlite:{tmp_path}/skitter.db"},
            "items": {"sink": f"sqlite:{tmp_path}/items.db"},
            "politeness": {"delay_s": 0, "concurrency": 4},
            "orchestrator": {"id": "o", "schedules": str(tmp_path / "schedules"), "tick_s": 0.2},
            "alerts": {"every_s": 0.2},
        }
    )


@pytest.fixture
async def services(settings: Settings) -> AsyncIterator[Services]:
    async with open_services(settings) as services:
        yield services


@pytest.fixture
async def lead(services: Services) -> Lead:
    """Leadership that nobody disputes."""
    leader = Leader(services.frontier, name="test", lease_s=3600)
    assert await leader.campaign()
    return Lead(leader, await services.store.write(lambda found: take_term(found, "test")))
