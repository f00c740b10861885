"""A server, a lab web, and spiders run on both in processes of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import pytest

from skitter.frontier import Frontier
from skitter.sinks import read_items
from tests.integration.addon.crawling import SPIDERS, Crawling, Outcome

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from skitter.lab import LabProcess
    from skitter.lab.pytest_plugin import StartLabProcess
    from skitter.lab.verdict import Verdict
    from skitter.sinks import Item
    from tests.servers import ServerProcess


@pytest.fixture
def server_url(valkey_server: ServerProcess) -> str:
    """One kind of server will do: the frontier's own tests run on all of them."""
    return valkey_server.url


class Bench:
    """Where spiders run: settings for all of them, and what they left."""

    fast = False
    """Whether they run on the fast engine."""

    def __init__(self, lab: LabProcess, folder: Path, server_url: str, namespace: str) -> None:
        self.lab = lab
        self.folder = folder
        self.sink = f"sqlite:{folder}/items.db"
        self.running: list[Crawling] = []
        self.settings: dict[str, Any] = {
            "ADDONS": {"skitter.addon.Addon": 500},
            "TELNETCONSOLE_ENABLED": False,
            "LOG_LEVEL": "DEBUG",
            "SKITTER_JOB": "j",
            "SKITTER": {
                "redis.url": server_url,
                "redis.namespace": namespace,
                "items.sink": self.sink,
                "fetch.resolve": [lab.rule],
                "politeness.delay_s": 0,
                "politeness.latency_factor": 0,
                "retry.base_s": 0.05,
                "retry.jitter": 0,
                "frontier.caretaker_tick_s": 0.1,
            },
        }

    def begin(
        self, spider: str, *, args: dict[str, str] | None = None, **settings: Any
    ) -> Crawling:
        """Start a crawl; `skitter` in the settings is laid over ours.

        spider is a class of the tests' spiders, or one by its whole path.
        """
        module, _, name = spider.rpartition(".")
        ours = self.settings["SKITTER"] | settings.pop("skitter", {})
        settings = self.settings | {"SKITTER": ours} | settings
        started = Crawling(name, settings, args or {}, fast=self.fast, module=module or SPIDERS)
        self.running.append(started)
        return started

    def run(self, spider: str, *, args: dict[str, str] | None = None, **settings: Any) -> Outcome:
        """A crawl from its beginning to its end, on the lab's first host."""
        outcome = self.begin(spider, args={"site": self.lab.url(0)} | (args or {}), **settings)
        ended = outcome.outcome()
        assert not ended.error, ended.error
        return ended

    def items(self) -> list[Item]:
        return list(read_items(self.sink))

    def data(self) -> list[dict[str, Any]]:
        return [item.data for item in self.items()]


def share(verdict: Verdict) -> float:
    """How much of the web was crawled."""
    assert verdict.coverage
    return verdict.coverage.share


class StartBench(Protocol):
    def __call__(self, spec: Any = None, **options: Any) -> Bench: ...


@pytest.fixture
def bench(
    lab_process: StartLabProcess, tmp_path: Path, server_url: str, namespace: str
) -> Iterator[StartBench]:
    made: list[Bench] = []

    def start(spec: Any = None, **options: Any) -> Bench:
        made.append(Bench(lab_process(spec, **options), tmp_path, server_url, namespace))
        return made[-1]

    yield start
    for one in made:
        for crawling in one.running:
            crawling.kill()


@pytest.fixture
async def frontier(server_url: str, namespace: str) -> AsyncIterator[Frontier]:
    """The test's own view of what the spiders left."""
    async with await Frontier.connect(server_url, worker="test", namespace=namespace) as found:
        yield found
