"""Users of the embedded server as processes of their own, and what runs in a server's folder."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import redis

from tests.servers.programs import die_with_parent

if TYPE_CHECKING:
    from collections.abc import Callable

    from skitter.frontier.embedded import EmbeddedServer

    Join = Callable[..., "User"]

ROOT = Path(__file__).parents[2]


class User:
    """A process that uses the server of a folder (see tests/servers/embedded_user.py)."""

    def __init__(self, folder: Path, task: str = "hold") -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.servers.embedded_user", str(folder), task],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            preexec_fn=die_with_parent,  # noqa: PLW1509 - one call to the kernel
        )

    def line(self) -> int:
        assert self.process.stdout is not None
        return int(self.process.stdout.readline())

    def say(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def leave(self) -> None:
        self.process.communicate(timeout=30)
        assert self.process.returncode == 0

    def kill(self) -> None:
        if self.process.returncode is None:
            self.process.kill()
            self.process.communicate(timeout=30)


def processes_in(folder: Path) -> dict[int, str]:
    """Servers and guards with their names, by the folder that they run in."""
    found = {}
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.cwd() == str(folder.resolve()):
                found[process.pid] = process.name()
    return found


def servers_in(folder: Path) -> list[int]:
    return [pid for pid, name in processes_in(folder).items() if "valkey" in name]


def guard_in(folder: Path) -> psutil.Process:
    pids = [pid for pid, name in processes_in(folder).items() if "valkey" not in name]
    return psutil.Process(pids[0])


def client_of(server: EmbeddedServer) -> redis.Redis:
    return redis.Redis.from_url(server.url, socket_timeout=5)
