"""Every sink, by its URL, in a place of its own for each test. A new sink joins by a line here."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from skitter.sinks import open_sink

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from skitter.sinks import Sink

SINKS: dict[str, Callable[[Path], str]] = {
    "sqlite": lambda folder: f"sqlite:{folder / 'new' / 'items of ü.db'}",
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.contract)


@pytest.fixture(params=list(SINKS))
def sink_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return SINKS[request.param](tmp_path)


@pytest.fixture
async def sink(sink_url: str) -> AsyncIterator[Sink]:
    opened = open_sink(sink_url)
    await opened.open()
    yield opened
    await opened.close()
