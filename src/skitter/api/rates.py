"""Rate limits: a bucket of tokens for each key, and for each address without one.

Memory is bounded: the bucket that was asked longest ago is dropped first, and one that is full
again is the same as none.
"""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_BUCKETS = 10_000


class Buckets:
    """How many requests each may make: rate_per_s in the long run, burst at once."""

    def __init__(
        self, *, rate_per_s: float, burst: int, now: Callable[[], float] = time.monotonic
    ) -> None:
        self.rate_per_s = rate_per_s
        self._burst = burst
        self._now = now
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._left)

    def take(self, who: str) -> float:
        """Take a token; 0, or how many seconds to wait for one."""
        now = self._now()
        tokens, at = self._left.pop(who, (float(self._burst), now))
        tokens = min(self._burst, tokens + (now - at) * self.rate_per_s)
        wait_s = 0.0 if tokens >= 1 else (1 - tokens) / self.rate_per_s
        self._left[who] = (tokens - 1 if tokens >= 1 else tokens, now)
        while len(self._left) > MOST_BUCKETS:
            self._left.popitem(last=False)
        return wait_s


def whole_seconds(seconds: float) -> int:
    """As a Retry-After says it: never too short."""
    return max(1, math.ceil(seconds))
