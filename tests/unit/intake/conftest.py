from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from skitter.frontier import Config, Lease, Request
from skitter.frontier.lease import boot_ms
from skitter.intake import Bounds, Page
from skitter.intake.holding import Holding
from skitter.intake.lane import Lane

if TYPE_CHECKING:
    from collections.abc import Callable


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.unit)


class NoFrontier:
    """Leases are fresh until a test says otherwise."""

    config = Config(lease_ms=10_000)

    def __init__(self) -> None:
        self.margins: list[float] = []

    def fresh(self, lease: Lease, *, margin_ms: float) -> bool:
        self.margins.append(margin_ms)
        return boot_ms() < lease.confirmed_ms + self.config.lease_ms - margin_ms


@pytest.fixture
def frontier() -> Any:
    return NoFrontier()


@pytest.fixture
def holding(frontier: Any) -> Holding:
    return Holding(frontier, bounds=Bounds(), margin_s=3)


@pytest.fixture
def lane(holding: Holding) -> Lane:
    return Lane("lane", wake=lambda: None, room=lambda: 10, holding=holding)


@pytest.fixture
def new_page(lane: Lane, holding: Holding) -> Callable[..., Page]:
    """Makes pages that are held; age_ms is how long ago they were confirmed."""

    def make(name: str = "1", *, host: str = "a.com", delay_ms: int = 0, age_ms: int = 0) -> Page:
        lease = Lease(
            token=f"{host}{name}",
            request=Request("j", f"https://{host}/{name}"),
            host=host,
            egress="direct",
            delay_ms=delay_ms,
            shard=0,
            alone=False,
            confirmed_ms=boot_ms() - age_ms,
        )
        page = Page(lease, lane)
        holding.pages[lease.token] = page
        return page

    return make
