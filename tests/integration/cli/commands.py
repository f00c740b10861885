"""Any command of `skitter` on a real server, and the frontier that it works on."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from typer.testing import CliRunner

from skitter.cli.main import app
from skitter.errors import SkitterError
from skitter.frontier import Fetch, Job, Request, Settlement
from skitter.frontier.opening import open_frontier
from skitter.settings import load_settings

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from skitter.frontier import Frontier

SKITTER = Path(sys.executable).parent / "skitter"


@dataclass
class Ran:
    """What a command ended with."""

    code: int
    stdout: str
    stderr: str
    error: SkitterError | None = None

    @property
    def json(self) -> Any:
        return json.loads(self.stdout)


class Commands:
    def __init__(self, url: str, namespace: str) -> None:
        self.flags = {
            "redis.url": url,
            "redis.namespace": namespace,
            "politeness.delay_s": "0",
            "log.level": "error",
        }

    def run(self, *args: str, text: str = "") -> Ran:
        """Run a command with the settings of this test."""
        # A terminal's width, so that tables are what people see.
        runner = CliRunner(env={"COLUMNS": "80"})
        result = runner.invoke(app, [*args, *self.sets], input=text)
        error = result.exception if isinstance(result.exception, SkitterError) else None
        if result.exception and not error and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Ran(result.exit_code, result.stdout, result.stderr, error)

    @property
    def sets(self) -> list[str]:
        return [part for pair in self.flags.items() for part in ("--set", "=".join(pair))]

    def process(self, *args: str, cwd: Path | None = None, timeout_s: float = 60) -> Ran:
        """The same in a process of its own: for what loads a project's code."""
        done = subprocess.run(
            [SKITTER, *args, *self.sets],
            cwd=cwd,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    def ask(self, question: Callable[[Frontier], Awaitable[Any]]) -> Any:
        """Ask the frontier something."""

        async def ask() -> Any:
            async with open_frontier(load_settings(self.flags), worker="test") as frontier:
                return await question(frontier)

        return asyncio.run(ask())

    def queue(self, *urls: str, job: str = "books") -> None:
        """Give a job some requests."""

        async def add(frontier: Frontier) -> None:
            await frontier.jobs.submit(Job(id=job, spider=job))
            await frontier.add([Request(job, url) for url in urls])

        self.ask(add)

    def bury(self, *urls: str, job: str = "books", reason: str = "timeout") -> None:
        """Have requests of a job given up."""
        self.queue(*urls, job=job)

        async def fail(frontier: Frontier) -> None:
            lane = (await frontier.jobs.record(job)).job.lane
            for _ in urls:
                leases = (await frontier.lease([lane], count=1)).leases
                fetch = Fetch(ago_ms=0, latency_ms=5, status=0)
                lost = [
                    Settlement(lease, outcome="bury", fetch=fetch, reason=reason, error="no answer")
                    for lease in leases
                ]
                assert await frontier.settle(lost) == [True]

        self.ask(fail)
