"""How much CPU and memory this process takes."""

from __future__ import annotations

import os
import resource
import sys
import time

from skitter.worker.nursling import resident_bytes


class Usage:
    """CPU since the last question, and memory now."""

    def __init__(self) -> None:
        self._asked, self._spent = time.monotonic(), time.process_time()

    def cpu_percent(self) -> float:
        """Of one core, since this was last asked."""
        asked, spent = time.monotonic(), time.process_time()
        passed = max(asked - self._asked, 1e-3)
        share = (spent - self._spent) / passed
        self._asked, self._spent = asked, spent
        return round(100 * share, 1)

    @staticmethod
    def memory() -> int:
        """Bytes resident now; where the system does not say, the most there ever were."""
        resident = resident_bytes(os.getpid())
        if resident is not None:
            return resident
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most if sys.platform == "darwin" else most * 1024
