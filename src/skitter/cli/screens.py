"""Where a crawl's progress goes: drawn in place on a terminal, else a line every so often.

While a terminal is drawn on, logs of this process and of its children go to a file: they would
tear the picture apart.
"""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from rich.console import Console
from rich.live import Live

from skitter.cli.progress import Snapshot, draw, line

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LINE_EVERY_S = 5.0


class Screen(Protocol):
    """What shows snapshots."""

    def show(self, snapshot: Snapshot) -> None: ...
    def say(self, text: str) -> None: ...


class LineScreen:
    """Lines on stderr: now and then, and whenever the state changes."""

    def __init__(self, every_s: float = LINE_EVERY_S) -> None:
        self._every_s = every_s
        self._last: Snapshot | None = None

    def show(self, snapshot: Snapshot) -> None:
        last = self._last
        due = last is None or snapshot.elapsed_s - last.elapsed_s >= self._every_s
        if due or (last and (last.state, last.note) != (snapshot.state, snapshot.note)):
            self._last = snapshot
            self.say(line(snapshot) + (f": {snapshot.note}" if snapshot.note else ""))

    def say(self, text: str) -> None:
        print(text, file=sys.stderr, flush=True)  # noqa: T201 - it is what a line screen is for


class LiveScreen:
    """Draws in place."""

    def __init__(self, live: Live) -> None:
        self._live = live

    def show(self, snapshot: Snapshot) -> None:
        self._live.update(draw(snapshot), refresh=True)

    def say(self, text: str) -> None:
        self._live.console.print(text, markup=False, highlight=False, soft_wrap=True)


@contextmanager
def screen(log: Path) -> Iterator[Screen]:
    """The screen that fits; log is where logs go while a terminal is drawn on."""
    if not sys.stderr.isatty():
        yield LineScreen()
        return
    with (
        logs_put_aside(log) as console,
        Live(console=console, auto_refresh=False, transient=True) as live,
    ):
        yield LiveScreen(live)


@contextmanager
def logs_put_aside(log: Path) -> Iterator[Console]:
    """Send stderr to a file, that of child processes too; a console for the terminal itself."""
    log.parent.mkdir(parents=True, exist_ok=True)
    sys.stderr.flush()
    terminal = os.dup(2)
    file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(file, 2)
    os.close(file)
    try:
        with os.fdopen(os.dup(terminal), "w", encoding="utf-8") as out:
            yield Console(file=out)
    finally:
        sys.stderr.flush()
        os.dup2(terminal, 2)
        os.close(terminal)
