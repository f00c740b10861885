"""Workers as processes of this machine: places of a supervisor, within what its memory allows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from skitter.worker.cgroup import memory_limit

if TYPE_CHECKING:
    from skitter.worker.supervisor import Supervisor

SHARE = 0.9  # of the memory; the rest is for what nobody expects
MEMINFO = Path("/proc/meminfo")


class LocalDriver:
    """Grows and shrinks a supervisor."""

    def __init__(self, supervisor: Supervisor) -> None:
        self._supervisor = supervisor

    async def current(self) -> int:
        """How many children there are to be."""
        return self._supervisor.places

    async def scale_to(self, number: int) -> None:
        """Start children, or let some go."""
        self._supervisor.scale_to(number)

    def memory_left(self) -> int | None:
        """What more children may take."""
        return memory_left(self._supervisor.memory, limit=memory_limit())


def memory_left(used: int, *, limit: int | None, meminfo: Path = MEMINFO) -> int | None:
    """The bytes that more processes may take, of the cgroup's limit and of what the machine has.

    used is what the processes have now. None where neither the cgroup nor the system says.
    """
    bounds = [] if limit is None else [int(limit * SHARE) - used]
    try:
        lines = dict(
            line.split(":", 1) for line in meminfo.read_text(encoding="ascii").splitlines()
        )
        total, available = (int(lines[name].split()[0]) for name in ("MemTotal", "MemAvailable"))
        bounds.append(int((available - total * (1 - SHARE)) * 1024))
    except (OSError, KeyError, ValueError, IndexError):
        return min(bounds, default=None)
    return min(bounds, default=None)
