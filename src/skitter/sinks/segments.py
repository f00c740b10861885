"""The folder of a file sink: `raw/JOB/` with the segments of all its writers, `processed/`.

A segment's name begins with the time at which it was begun, so that names sort as time does, and
goes on with its writer (host, process, and a token of its own) and a number. A commit goes to one
segment of each job that is in it, and all of them are synced before it counts.
"""

from __future__ import annotations

import os
import re
import secrets
import socket
import time
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import blake2b
from itertools import count
from typing import TYPE_CHECKING
from urllib.parse import quote

from skitter.sinks.durable import explain, make_folder
from skitter.sinks.records import record_of
from skitter.sinks.segment import PART, Segment, recover

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from skitter.sinks.rows import Row

MOST_OPEN = 64
SUFFIX = ".jsonl"


@dataclass(frozen=True)
class Rotation:
    """When a segment is finished and another one begun."""

    size: int = 64 * 1024**2
    seconds: float = 600


class Segments:
    """Used by one thread. raw is the folder that holds a folder for each job."""

    def __init__(self, name: str, raw: Path, rotation: Rotation) -> None:
        self._name = name
        self._raw = raw
        self._rotation = rotation
        host = re.sub(r"[^A-Za-z0-9.]+", "-", socket.gethostname())
        self._writer = f"{host}-{os.getpid()}-{secrets.token_hex(3)}"
        self._numbers = count()
        self._open: dict[str, Segment] = {}

    def open(self) -> None:
        """Make the folder, and finish what dead writers left behind."""
        try:
            make_folder(self._raw)
            recover_all(self._raw)
        except OSError as error:
            raise explain(self._name, error) from error

    def write(self, rows: list[Row]) -> None:
        """Append rows and sync them; all or none, unless the machine fails in between."""
        lines: dict[str, list[str]] = {}
        for row in rows:
            lines.setdefault(row.job, []).append(record_of(row))
        begun: list[Segment] = []
        try:
            for job, texts in lines.items():
                segment = self._segment(job)
                begun.append(segment)
                segment.append(texts)
            for segment in begun:
                segment.sync()
        except OSError as error:
            for segment in begun:
                segment.undo()
            raise explain(self._name, error) from error
        self.rotate()

    def rotate(self) -> None:
        """Finish the segments that are large, old, or too many."""
        for job, segment in list(self._open.items()):
            age_s = time.monotonic() - segment.begun
            large = segment.size >= self._rotation.size or len(self._open) > MOST_OPEN
            if large or age_s >= self._rotation.seconds:
                self._finish(job)

    def close(self) -> None:
        """Finish all segments."""
        for job in list(self._open):
            self._finish(job)

    def _finish(self, job: str) -> None:
        with suppress(OSError):  # it is durable; whoever opens the folder next gives it its name
            self._open.pop(job).finish()

    def _segment(self, job: str) -> Segment:
        segment = self._open.get(job)
        if segment is not None and not segment.is_there():
            self._finish(job)
            segment = None
        if segment is None:
            segment = self._open[job] = self._begin(self._raw / folder_name(job))
        return segment

    def _begin(self, folder: Path) -> Segment:
        make_folder(folder)
        while True:
            stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%f")
            with suppress(BlockingIOError):  # it was cleared away before it had its lock
                return Segment(folder / f"{stamp}-{self._writer}-{next(self._numbers):06}{SUFFIX}")


def folder_name(job: str) -> str:
    """A job's name as one that a file system takes; two jobs never share one."""
    name = quote(job, safe=" ") or "%"
    name = f"%2E{name[1:]}" if name.startswith(".") else name
    if len(name) > 200:
        name = f"{name[:150]}%{blake2b(job.encode(), digest_size=16).hexdigest()}"
    return name


def recover_all(raw: Path) -> None:
    """Finish what dead writers left behind, in every job's folder."""
    for part in raw.glob(f"*/*{SUFFIX}{PART}"):
        recover(part)


def segments_of(raw: Path, jobs: Iterable[str]) -> list[Path]:
    """The names of these folders' segments in the order of time, finished or not."""
    found: set[Path] = set()
    for job in jobs:
        found |= {
            path.with_name(path.name.removesuffix(PART)) for path in (raw / job).glob(f"*{SUFFIX}*")
        }
    return sorted(found, key=lambda path: path.name)
