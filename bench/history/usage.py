"""CPU of this process and of the servers behind it, however many processes each has."""

from __future__ import annotations

import time
from contextlib import suppress

import psutil


class Usage:
    """Servers are named by folders that they run in, or by process ids."""

    def __init__(self, pids: list[int]) -> None:
        self._pids = pids

    def cpu_s(self) -> float:
        """Seconds so far."""
        return time.process_time() + sum(_tree_s(pid) for pid in self._pids)


def _tree_s(pid: int) -> float:
    """A process and its children. One that has ended is counted by its parent."""
    total = 0.0
    with suppress(psutil.NoSuchProcess):
        process = psutil.Process(pid)
        own = process.cpu_times()
        total += own.user + own.system + own.children_user + own.children_system
        for child in process.children(recursive=True):
            with suppress(psutil.NoSuchProcess):
                times = child.cpu_times()
                total += times.user + times.system
    return total
