"""The command line on a real server, in a folder of its own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.integration.cli.commands import Commands
from tests.integration.cli.pushes import Pushes
from tests.integration.cli.sitemap_server import SitemapServer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.servers import ServerProcess


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.integration)


@pytest.fixture
def server_url(valkey_server: ServerProcess) -> str:
    return valkey_server.url


@pytest.fixture
def pushes(
    server_url: str, namespace: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Pushes:
    """Runs `skitter push` and looks at what it left in the frontier."""
    monkeypatch.chdir(tmp_path)
    return Pushes(server_url, namespace)


@pytest.fixture
def commands(
    server_url: str, namespace: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Commands:
    """Runs any command, and looks at what it did to the frontier."""
    monkeypatch.chdir(tmp_path)
    return Commands(server_url, namespace)


@pytest.fixture
def sitemap_server() -> Iterator[SitemapServer]:
    with SitemapServer() as server:
        yield server
