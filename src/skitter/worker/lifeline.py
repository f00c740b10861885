"""A child ends with its parent, whatever becomes of the parent.

Two ways, for neither is enough: the kernel tells a child on Linux (PDEATHSIG), and everywhere the
pipe to its stdin closes. Told, it drains, for that is how leases come back soonest; a thread that
needs nothing of the event loop ends it when the grace is over.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

PR_SET_PDEATHSIG = 1
ORPHANED = 3


def heed_parents_death(parent: int) -> None:
    """Ask the kernel to send SIGTERM when the parent dies; end now if it has died already."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        sys.exit(ORPHANED)


def watch_pipe(pipe: int, *, drain: Callable[[], None], grace_s: float) -> None:
    """Drain when the pipe closes, and end the process when the grace is over.

    It is read below Python's buffers: their lock, held by a thread, would spoil a plain exit.
    """

    def watch() -> None:
        while os.read(pipe, 4096):
            pass
        drain()
        # A daemon thread's wait does not keep the process: if it ends by itself, so does this.
        threading.Event().wait(grace_s)
        os._exit(ORPHANED)

    threading.Thread(target=watch, name="lifeline", daemon=True).start()
