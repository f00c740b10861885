"""The bookshop as a process of its own, and one `scrapy crawl` of its project as another."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Self
from urllib.request import ProxyHandler, Request, build_opener

from tests.servers.programs import die_with_parent

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType

# A proxy set in the environment is for the internet, never for a test's own site.
_OPENER = build_opener(ProxyHandler({}))
ROOT = Path(__file__).parents[2]
PROJECT = Path(__file__).parent / "bookshop"


class SiteProcess:
    """`with SiteProcess() as site:` serves the bookshop at `site.url`."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self.url = ""

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.projects.site"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            preexec_fn=die_with_parent,  # noqa: PLW1509 - one call to the kernel
        )
        assert self._process.stdout is not None
        self.url = f"http://127.0.0.1:{int(self._process.stdout.readline())}"
        return self

    def close_gate(self) -> None:
        """Answer nothing behind the login until the gate is open again."""
        self._ask("gate/close", method="POST")

    def open_gate(self) -> None:
        self._ask("gate/open", method="POST")

    def asked(self) -> list[str]:
        """The paths that were asked for so far, in order."""
        paths: list[str] = json.loads(self._ask("asked"))
        return paths

    def _ask(self, path: str, *, method: str = "GET") -> bytes:
        with _OPENER.open(Request(f"{self.url}/{path}", method=method), timeout=30) as reply:
            content: bytes = reply.read()
        return content

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._process is not None:
            self._process.communicate(timeout=30)


class CrawlProcess:
    """`scrapy crawl` in a project's folder, with its output in a log file."""

    def __init__(
        self,
        spider: str,
        *options: str,
        log: Path,
        environment: Mapping[str, str] | None = None,
        project: Path = PROJECT,
    ) -> None:
        self.log = log
        inherited = {
            k: v for k, v in os.environ.items() if not k.startswith(("SKITTER_", "SCRAPY_"))
        }
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "scrapy", "crawl", spider, *options],
                cwd=project,
                env=inherited | {"PYTHONDONTWRITEBYTECODE": "1"} | dict(environment or {}),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                preexec_fn=die_with_parent,  # noqa: PLW1509 - one call to the kernel
            )

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def running(self) -> bool:
        return self._process.poll() is None

    def finish(self, *, timeout_s: float = 60.0) -> None:
        """Wait for its end; a failure, with the log, if that is late or not clean."""
        try:
            self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            self.kill()
        assert self._process.returncode == 0, f"{self._process.returncode}:\n{self.tail()}"

    def kill(self) -> None:
        self._process.kill()
        self._process.wait(timeout=30)

    def tail(self) -> str:
        return self.log.read_text(errors="replace")[-8000:]
