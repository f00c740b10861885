"""The bench of the add-on's tests, with the fast engine on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.integration.addon.conftest import Bench, frontier, server_url

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from skitter.lab import LabProcess
    from skitter.lab.pytest_plugin import StartLabProcess
    from tests.integration.addon.conftest import StartBench

__all__ = ["frontier", "server_url"]


class FastBench(Bench):
    fast = True

    def __init__(self, lab: LabProcess, folder: Path, server_url: str, namespace: str) -> None:
        super().__init__(lab, folder, server_url, namespace)
        del self.settings["ADDONS"]


@pytest.fixture
def bench(
    lab_process: StartLabProcess, tmp_path: Path, server_url: str, namespace: str
) -> Iterator[StartBench]:
    made: list[Bench] = []

    def start(spec: Any = None, **options: Any) -> Bench:
        made.append(FastBench(lab_process(spec, **options), tmp_path, server_url, namespace))
        return made[-1]

    yield start
    for one in made:
        for crawling in one.running:
            crawling.kill()
