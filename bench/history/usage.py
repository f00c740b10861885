"""CPU of this process and of the servers behind it, however many processes each has."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path

import psutil

NS = 1e9


class Usage:
    """Servers are named by process ids."""

    def __init__(self, pids: list[int]) -> None:
        self._pids = pids
        self._found: list[psutil.Process] = []

    def find(self) -> None:
        """Look for the servers' processes. It takes a while: between questions, not within."""
        servers = [psutil.Process(pid) for pid in self._pids]
        children = [child for server in servers for child in server.children(recursive=True)]
        self._found = [*servers, *children]

    def cpu_s(self) -> float:
        """Seconds so far, of this process and of those that were found."""
        return time.process_time() + sum(map(_busy_s, self._found))


def _busy_s(process: psutil.Process) -> float:
    """Linux tells what each thread used to the nanosecond; else it is told in hundredths."""
    with suppress(psutil.NoSuchProcess):
        folder = Path(f"/proc/{process.pid}/task")
        with suppress(OSError):
            told = [path.read_text() for path in folder.glob("*/schedstat")]
            if told:
                return sum(int(line.split()[0]) for line in told) / NS
        times = process.cpu_times()
        return times.user + times.system
    return 0.0
