"""A server, an API and a worker, each a process of its own, on a lab that judges the crawl."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import yaml

from skitter.lab import LabProcess, WebSpec
from tests.servers import ServerProcess
from tests.servers.programs import die_with_parent

if TYPE_CHECKING:
    from skitter.lab import Verdict

ROOT = Path(__file__).parents[2]
SKITTER = Path(sys.executable).parent / "skitter"
START_S = 60


class Cluster:
    """`with Cluster(folder, spec) as cluster:`; what it started ends with the block."""

    def __init__(self, folder: Path, spec: WebSpec) -> None:
        self._folder = folder
        self._spec = spec
        self._stack = ExitStack()
        self.lab: LabProcess
        self.url = ""
        self.key = ""
        self.api: subprocess.Popen[bytes]

    def __enter__(self) -> Self:
        with self._stack:
            server = self._stack.enter_context(ServerProcess("valkey"))
            self.lab = self._stack.enter_context(LabProcess(self._spec, prerender=20_000))
            self._write_settings(server.url)
            self.api = self._start("api", "--port", "0")
            self._await_api()
            self._start("worker", "--spiders", "bench.api.spider")
            self._stack = self._stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def verdict(self) -> Verdict:
        return self.lab.verdict()

    def log(self, name: str) -> str:
        return (self._folder / f"{name}.err").read_text(errors="replace")

    def _write_settings(self, server_url: str) -> None:
        lines: dict[str, dict[str, Any]] = {
            "redis": {"url": server_url},
            "store": {"url": f"sqlite:{self._folder / 'skitter.db'}"},
            "items": {"sink": f"sqlite:{self._folder / 'items.db'}"},
            "fetch": {"resolve": self.lab.rule},
            "politeness": {"delay_s": 0, "concurrency": 4, "latency_factor": 0},
            "worker": {"processes": 1},
            "log": {"level": "warning", "format": "text"},
        }
        (self._folder / "skitter.yaml").write_text(yaml.safe_dump(lines))

    def _start(self, name: str, *args: str) -> subprocess.Popen[bytes]:
        out, err = self._folder / f"{name}.out", self._folder / f"{name}.err"
        environment = {k: v for k, v in os.environ.items() if not k.startswith("SKITTER_")}
        with out.open("wb") as stdout, err.open("wb") as stderr:
            process = subprocess.Popen(
                [SKITTER, name, *args],
                cwd=self._folder,
                env=environment | {"PYTHONPATH": str(ROOT)},
                stdout=stdout,
                stderr=stderr,
                preexec_fn=die_with_parent,  # noqa: PLW1509 - nothing here has threads yet
            )
        self._stack.callback(_end, process)
        return process

    def _await_api(self) -> None:
        deadline = time.monotonic() + START_S
        while "The API is at " not in self.log("api"):
            if time.monotonic() > deadline or self.api.poll() is not None:
                raise RuntimeError(f"the API did not start: {self.log('api')}")
            time.sleep(0.1)
        self.url = self.log("api").rpartition("The API is at ")[2].split()[0]
        self.key = (self._folder / "api.out").read_text().strip()


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(40)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
