"""Workers as an operator starts them, and a frontier to give them jobs and look at what they do."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from skitter.frontier import Config, Frontier, Job, Request
from skitter.sinks import read_items
from tests.wait import wait_until_async

if TYPE_CHECKING:
    from skitter.lab import LabProcess

SKITTER = Path(sys.executable).parent / "skitter"
ROOT = Path(__file__).parents[3]
SPIDERS = "tests.integration.worker.spiders"


class Worker:
    """A `skitter worker` process."""

    def __init__(self, process: subprocess.Popen[bytes], name: str, log: Path) -> None:
        self.process = process
        self.name = name
        self._log = log

    def log(self) -> str:
        return self._log.read_text(errors="replace")

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def stop(self) -> int:
        """Drain it; its exit code."""
        self.signal(signal.SIGTERM)
        return self.process.wait(timeout=30)


class Crew:
    """Workers of one frontier. Hosts have no delay unless a test's web asks for one."""

    def __init__(self, server_url: str, namespace: str, folder: Path) -> None:
        self.server_url = server_url
        self.namespace = namespace
        self.folder = folder
        self.frontier: Frontier
        self.workers: list[Worker] = []
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        self.frontier = await self._stack.enter_async_context(
            await Frontier.connect(
                self.server_url,
                worker="test",
                namespace=self.namespace,
                config=Config(delay_ms=0, concurrency=4),
            )
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        for worker in self.workers:
            if worker.process.poll() is None:
                worker.process.kill()
                worker.process.wait(30)
            print(f"--- {worker.name}\n{worker.log()}")
        await self._stack.aclose()

    def start(self, *args: str, lab: LabProcess | None = None, **settings: str) -> Worker:
        """Start a worker with flags; settings by name, with two underscores for the dot."""
        name = f"w{len(self.workers)}"
        given = {
            "redis.url": self.server_url,
            "redis.namespace": self.namespace,
            "politeness.delay_s": "0",
            "politeness.concurrency": "4",
            "items.sink": self.sink,
            "worker.id": name,
            "worker.processes": "1",
            "worker.heartbeat_s": "0.2",
            "log.format": "text",
        } | {key.replace("__", "."): value for key, value in settings.items()}
        if lab:
            given["fetch.resolve"] = lab.rule
        flags = [word for pair in given.items() for word in ("--set", "=".join(pair))]
        spiders = [] if "--project" in args else ["--spiders", SPIDERS]
        log = self.folder / f"{name}.log"
        with log.open("wb") as file:
            process = subprocess.Popen(
                [str(SKITTER), "worker", *spiders, *args, *flags],
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
                env={k: v for k, v in os.environ.items() if not k.startswith("SKITTER_")},
            )
        self.workers.append(Worker(process, name, log))
        return self.workers[-1]

    @property
    def sink(self) -> str:
        return f"sqlite:{self.folder}/items.db"

    def items(self, job: str) -> list[dict[str, Any]]:
        return [item.data for item in read_items(self.sink, job=job)]

    async def submit(self, name: str, spider: str = "links", **fields: Any) -> Job:
        """A job with its start request, as a client submits it."""
        job = Job(id=name, spider=spider, **fields)
        await self.frontier.jobs.submit(job)
        await self.frontier.add([Request.start(name)])
        await self.frontier.jobs.release_hold(name)
        return job

    async def crawl(self, name: str, lab: LabProcess, **fields: Any) -> Job:
        """A job that begins at the lab's first page."""
        return await self.submit(name, args={"seeds": lab.url(0)}, **fields)

    async def until_ended(self, *jobs: str, timeout_s: float = 60) -> None:
        async def ended() -> bool:
            records = [await self.frontier.jobs.record(job) for job in jobs]
            return all(record.state == "ended" for record in records)

        await wait_until_async(ended, timeout_s=timeout_s, what=f"{jobs} have ended")

    async def said(self, number: int = 1, **fields: Any) -> list[dict[str, Any]]:
        """What workers say, when so many of them say these things."""

        async def fit() -> list[dict[str, Any]]:
            found = [
                said
                for said in await self.frontier.workers.list()
                if all(said.get(name) == value for name, value in fields.items())
            ]
            return found if len(found) == number else []

        return await wait_until_async(fit, timeout_s=30, what=f"{number} workers say {fields}")

    async def leases(self, worker: str) -> int:
        """How many leases a worker has."""
        prefix = self.frontier.shards.prefixes[0]
        return int(await self.frontier.shards.command("HLEN", f"{prefix}l:{worker}"))
