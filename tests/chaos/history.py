"""What each process did, in a file of its own: a line before each call and one after it.

Lines are appended whole, so that a SIGKILL costs at most the line that was not begun. Stamps are
milliseconds of the boot clock, the same for all processes of a machine.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skitter.frontier.lease import boot_ms


class History:
    """`note` writes one event: its name, the worker, and fields."""

    def __init__(self, path: str | Path, worker: str) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._worker = worker

    def note(self, event: str, **fields: Any) -> float:
        """Returns the stamp that it wrote."""
        at_ms = boot_ms()
        line = {"event": event, "worker": self._worker, "at": at_ms, **fields}
        os.write(self._file, json.dumps(line).encode() + b"\n")
        return at_ms

    def close(self) -> None:
        os.close(self._file)


@dataclass(frozen=True)
class Event:
    name: str
    worker: str
    at: float
    fields: dict[str, Any]


def read_histories(folder: Path) -> list[Event]:
    """All events of a folder's files, in order of their stamps."""
    events = []
    for path in folder.glob("*.history"):
        for text in path.read_text().splitlines():
            line = json.loads(text)
            name, worker, at = line.pop("event"), line.pop("worker"), line.pop("at")
            events.append(Event(name, worker, at, line))
    return sorted(events, key=lambda event: event.at)
