"""`skitter push` in this process or in one of its own, and the frontier that it fills."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from typer.testing import CliRunner

from skitter.cli.main import app
from skitter.errors import SkitterError
from skitter.frontier import HostPolicy
from skitter.frontier.opening import open_frontier
from skitter.settings import load_settings
from tests.servers.programs import die_with_parent

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from skitter.frontier import Frontier, Request

SKITTER = Path(sys.executable).parent / "skitter"


@dataclass
class Pushed:
    """What a command ended with. counts is its JSON, if it printed any."""

    code: int
    stderr: str
    counts: dict[str, Any] = field(default_factory=dict)
    error: SkitterError | None = None

    @property
    def reasons(self) -> dict[str, int]:
        return {entry["reason"]: entry["count"] for entry in self.counts["reasons"]}

    @property
    def told(self) -> tuple[int, int, int]:
        return self.counts["new"], self.counts["known"], self.counts["refused"]


class Pushes:
    def __init__(self, url: str, namespace: str) -> None:
        self.flags = {
            "redis.url": url,
            "redis.namespace": namespace,
            "politeness.delay_s": "0",
            "log.level": "error",
        }

    def run(self, *args: str, spider: str | None = "books") -> Pushed:
        """Push to the job `books`, which is submitted unless spider is None."""
        result = CliRunner().invoke(app, [*self.arguments(spider), *args])
        error = result.exception if isinstance(result.exception, SkitterError) else None
        if result.exception and not error and not isinstance(result.exception, SystemExit):
            raise result.exception
        counts = json.loads(result.stdout) if result.stdout.startswith("{") else {}
        return Pushed(result.exit_code, result.stderr, counts, error)

    @contextmanager
    def process(self, *args: str) -> Iterator[subprocess.Popen[str]]:
        """The command as a process of its own, which a failing test does not leave behind."""
        process = subprocess.Popen(
            [SKITTER, *self.arguments("books"), *args],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=die_with_parent,  # noqa: PLW1509 - one call to the kernel
        )
        with process:
            try:
                yield process
            finally:
                process.kill()

    def arguments(self, spider: str | None) -> list[str]:
        sets = [part for name, value in self.flags.items() for part in ("--set", f"{name}={value}")]
        submit = ["--spider", spider] if spider else []
        return ["push", "--job", "books", "--json", *submit, *sets]

    def ask(self, question: Callable[[Frontier], Awaitable[Any]]) -> Any:
        """Ask the frontier something."""

        async def ask() -> Any:
            async with open_frontier(load_settings(self.flags), worker="test") as frontier:
                return await question(frontier)

        return asyncio.run(ask())

    def waiting(self) -> int:
        """How many requests are queued for the job, if it stands."""

        async def count(frontier: Frontier) -> int:
            live = await frontier.jobs.live()
            return (await frontier.stats.job("books")).queued if "books" in live else 0

        return int(self.ask(count))

    def queued(self) -> list[Request]:
        """The queued requests of the job, leased and handed back: up to eight of each host."""

        async def lease(frontier: Frontier) -> list[Request]:
            lane = (await frontier.jobs.record("books")).job.lane
            first = (await frontier.lease([lane], count=1000)).leases
            for lease in first:  # a host whose robots.txt is not known gives one at a time
                await frontier.hosts.set_policy(lease.host, HostPolicy(robots_ms=60_000))
            await frontier.release(first)
            found = (await frontier.lease([lane], count=1000)).leases
            await frontier.release(found)
            return [lease.request for lease in found]

        requests: list[Request] = self.ask(lease)
        return requests
