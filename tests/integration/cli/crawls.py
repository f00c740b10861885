"""`skitter crawl` as people start it: a process in a folder of its own, with an embedded server."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil

from tests.integration.cli.commands import SKITTER
from tests.servers.programs import die_with_parent
from tests.wait import wait_until

if TYPE_CHECKING:
    from skitter.lab import LabProcess


class Crawls:
    """Commands in one folder; what they leave behind is ended with the test."""

    def __init__(self, folder: Path, lab: LabProcess) -> None:
        self.folder = folder
        self.lab = lab
        self._begun: list[subprocess.Popen[bytes]] = []

    def settings(self, **more: str) -> list[str]:
        given = {
            "fetch.resolve": self.lab.rule,
            "politeness.delay_s": "0",
            "politeness.concurrency": "4",
            "politeness.latency_factor": "0",
            "frontier.lease_s": "4",
            "worker.grace_s": "8",
            "worker.processes": "1",
        } | {name.replace("__", "."): value for name, value in more.items()}
        return [part for pair in given.items() for part in ("--set", "=".join(pair))]

    def start(self, *args: str, **more: str) -> subprocess.Popen[bytes]:
        """Begin a command; its output goes to out and err."""
        with (self.folder / "out").open("wb") as out, (self.folder / "err").open("wb") as err:
            process = subprocess.Popen(
                [str(SKITTER), *args, *self.settings(**more)],
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                env={k: v for k, v in os.environ.items() if not k.startswith("SKITTER_")},
                preexec_fn=die_with_parent,  # noqa: PLW1509 - one call to the kernel
            )
        self._begun.append(process)
        return process

    def run(self, *args: str, timeout_s: float = 240, **more: str) -> int:
        """Run a command to its end; its code."""
        return self.start(*args, **more).wait(timeout_s)

    def err(self) -> str:
        return (self.folder / "err").read_text(errors="replace")

    def out(self) -> str:
        return (self.folder / "out").read_text(errors="replace")

    def told(self) -> dict[str, Any]:
        """The JSON of the last command."""
        found: dict[str, Any] = json.loads(self.out())
        return found

    def fetched(self) -> int:
        """How many requests the lab has seen."""
        return int(self.lab.verdict(coverage=False).requests)

    def kill_all(self, process: subprocess.Popen[bytes]) -> int:
        """SIGKILL a command, all that it started, and the embedded server; how many there were."""
        mine = {process.pid, *(child.pid for child in psutil.Process(process.pid).children(True))}
        mine |= self._of_folder()
        for pid in mine:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.wait(30)
        wait_until(lambda: not self._of_folder(), what="all are dead")
        return len(mine)

    def close(self) -> None:
        for process in self._begun:
            if process.poll() is None:
                process.kill()
                process.wait(30)
        for pid in self._of_folder():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def _of_folder(self) -> set[int]:
        """The embedded server and its guard, which are nobody's children."""
        found = set()
        for process in psutil.process_iter(["pid", "cmdline", "cwd", "status"]):
            facts = process.info
            words = " ".join(facts["cmdline"] or [])
            inside = str(facts["cwd"] or "").startswith(str(self.folder))
            is_here = inside or str(self.folder) in words
            if is_here and facts["status"] != psutil.STATUS_ZOMBIE and facts["pid"] != os.getpid():
                found.add(int(facts["pid"]))
        return found
