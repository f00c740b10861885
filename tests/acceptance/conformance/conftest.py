"""The site, both engines in their processes, and a case run under each."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from urllib.request import ProxyHandler, build_opener

import pytest

from tests.acceptance.conformance.running import EngineProcess, Order, Outcome
from tests.servers.programs import die_with_parent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.servers import ServerProcess

ROOT = Path(__file__).parents[3]
_OPENER = build_opener(ProxyHandler({}))


@dataclass
class Ran:
    """A case's outcome, and what the site was asked."""

    outcome: Outcome
    asked: list[dict[str, Any]] = field(default_factory=list)


class Site:
    """The server of `site.py`, in a process of its own."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.acceptance.conformance.site"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            preexec_fn=die_with_parent,  # noqa: PLW1509 - one call to the kernel
        )
        assert self._process.stdout is not None
        self.port = int(self._process.stdout.readline())
        self.url = f"http://shop.test:{self.port}"

    def asked(self) -> list[dict[str, Any]]:
        """What was asked since the last time."""
        with _OPENER.open(f"http://127.0.0.1:{self.port}/asked", timeout=30) as reply:
            said: list[dict[str, Any]] = json.load(reply)
        return said

    def close(self) -> None:
        self._process.communicate(timeout=10)


@pytest.fixture(scope="session")
def site() -> Iterator[Site]:
    found = Site()
    yield found
    found.close()


@pytest.fixture(scope="session")
def engines() -> Iterator[tuple[EngineProcess, EngineProcess]]:
    """Scrapy's own, and the fast one."""
    both = EngineProcess(fast=False), EngineProcess(fast=True)
    yield both
    for engine in both:
        engine.close()


@pytest.fixture
def server_url(valkey_server: ServerProcess) -> str:
    return valkey_server.url


class RunBoth(Protocol):
    def __call__(self, spider: type) -> tuple[Ran, Ran]: ...


@pytest.fixture
def settings(server_url: str, namespace: str, tmp_path: Path) -> dict[str, Any]:
    """Those of all runs, for either engine."""
    return {
        "TELNETCONSOLE_ENABLED": False,
        "USER_AGENT": "conformance",
        "DOWNLOAD_DELAY": 0,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 8,
        "LOG_LEVEL": "INFO",
        "SKITTER": {
            "redis.url": server_url,
            "redis.namespace": namespace,
            "items.sink": f"sqlite:{tmp_path}/items.db",
            "fetch.resolve": ["*.test=127.0.0.1", "*example.com=127.0.0.1"],
            "politeness.latency_factor": 0,
            "retry.base_s": 0.02,
            "retry.jitter": 0,
            "retry.attempts": ["callback=1", "item=1", "url=1"],
            "frontier.caretaker_tick_s": 0.05,
        },
    }


@pytest.fixture
def run_both(
    site: Site,
    engines: tuple[EngineProcess, EngineProcess],
    settings: dict[str, Any],
    tmp_path: Path,
) -> RunBoth:
    """Runs a case under plain Scrapy, then under the fast engine."""

    def run(spider: type) -> tuple[Ran, Ran]:
        name = f"{spider.__module__}.{spider.__qualname__}"
        site.asked()
        ran = []
        for engine, folder in zip(engines, ("plain", "fast"), strict=True):
            own = {"ROBOTSTXT_OBEY": False, "CASE_FOLDER": str(tmp_path / folder)}
            engine.begin(Order(name, settings | own, {"site": site.url}))
            ran.append(Ran(engine.outcome(), site.asked()))
        return ran[0], ran[1]

    return run
