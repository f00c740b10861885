"""What this process may use: cores and memory as its cgroup allows them, not as the host has them.

Both versions of cgroups are read, from the process's own group up to the root: the narrowest bound
counts. Where nothing is bounded, or there are no cgroups, the machine's cores count.
"""

from __future__ import annotations

import math
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path("/sys/fs/cgroup")
OWN = Path("/proc/self/cgroup")
UNBOUNDED = 1 << 60  # version 1 writes a number near 2^63 where there is no bound


def cores(*, root: Path = ROOT, own: Path = OWN) -> int:
    """How many processes can run at once: the CPU quota rounded up, at most the cores given."""
    found = _usable_cores()
    for folder in _folders(root, own, "cpu"):
        quota = _quota(folder)
        if quota is not None:
            found = min(found, max(1, math.ceil(quota)))
    return found


def memory_limit(*, root: Path = ROOT, own: Path = OWN) -> int | None:
    """The bytes that all processes of the cgroup may take together; None without a bound."""
    bounds = [
        bound
        for folder in _folders(root, own, "memory")
        for name in ("memory.max", "memory.limit_in_bytes")
        if (bound := _number(folder / name)) is not None and bound < UNBOUNDED
    ]
    return min(bounds, default=None)


def _usable_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _quota(folder: Path) -> float | None:
    """Cores' worth of time: `cpu.max` in version 2, two files in version 1."""
    words = _text(folder / "cpu.max").split()
    if len(words) == 2 and words[0] != "max":
        return int(words[0]) / int(words[1])
    quota, period = _number(folder / "cpu.cfs_quota_us"), _number(folder / "cpu.cfs_period_us")
    return quota / period if quota and period and quota > 0 else None


def _folders(root: Path, own: Path, controller: str) -> Iterator[Path]:
    """The folders of the process's group and all above it, for either version."""
    for line in _text(own).splitlines():
        number, _, rest = line.partition(":")
        names, _, group = rest.partition(":")
        if number != "0" and controller not in names.split(","):
            continue
        base = root if number == "0" else root / controller
        inner = base / group.lstrip("/")
        yield from [inner, *(above for above in inner.parents if above.is_relative_to(base))]


def _number(path: Path) -> int | None:
    text = _text(path).strip()
    with suppress(ValueError):
        return int(text)
    return None


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii")
    except (OSError, UnicodeError):
        return ""
