"""A child's pipe to its supervisor: that it is ready, and a beat while its event loop turns.

A loop that hangs in somebody's code renews no lease and hears no signal; without its beats the
supervisor would take it for alive.
"""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress

READY, BEAT = b"ready\n", b".\n"
BEAT_S = 0.5


class Pulse:
    """Writes to the pipe, and never waits for it: a supervisor that is gone is the lifeline's."""

    def __init__(self, pipe: int) -> None:
        self._pipe = pipe
        os.set_blocking(pipe, False)

    def ready(self) -> None:
        """Say that the child is at work."""
        self._write(READY)

    async def run(self) -> None:
        """Beat until cancelled."""
        while True:
            self._write(BEAT)
            await asyncio.sleep(BEAT_S)

    def _write(self, line: bytes) -> None:
        with suppress(BlockingIOError, BrokenPipeError):
            os.write(self._pipe, line)
