"""Figures of one process: rates over a minute, and how long each stage of a page takes."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Callable

Stage = Literal["fetch", "callback", "sink", "settle"]

STAGES: tuple[Stage, ...] = ("fetch", "callback", "sink", "settle")
BUCKETS = 18
WINDOW_S = 60


class Histogram:
    """Counts by powers of two: bucket n has what took less than 2^n ms, the last one the rest."""

    __slots__ = ("counts",)

    def __init__(self) -> None:
        self.counts = [0] * BUCKETS

    def note(self, ms: float) -> None:
        """Count one."""
        self.counts[min(BUCKETS - 1, int(max(0.0, ms)).bit_length())] += 1

    def quantile_ms(self, share: float) -> float:
        """A time that at least this share of all stayed under; 0 when there was nothing."""
        wanted, seen = share * sum(self.counts), 0
        for exponent, number in enumerate(self.counts):
            seen += number
            if number and seen >= wanted:
                return float(2**exponent)
        return 0.0


class Rate:
    """How many a second, over the last minute or since the start if that is sooner."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._begun = clock()
        self._counts = [0] * WINDOW_S
        self._second = int(self._begun)

    def note(self, number: int = 1) -> None:
        """Count some now."""
        self._advance()
        self._counts[self._second % WINDOW_S] += number

    def per_s(self) -> float:
        """The mean over the window."""
        self._advance()
        return sum(self._counts) / min(WINDOW_S, max(1.0, self._clock() - self._begun))

    def _advance(self) -> None:
        now = int(self._clock())
        for second in range(max(self._second + 1, now - WINDOW_S + 1), now + 1):
            self._counts[second % WINDOW_S] = 0
        self._second = max(self._second, now)


@dataclass
class Figures:
    """What a process has done so far."""

    pages: Rate = field(default_factory=Rate)
    done: int = 0
    failed: int = 0
    stages: dict[Stage, Histogram] = field(
        default_factory=lambda: {stage: Histogram() for stage in STAGES}
    )

    def took(self, stage: Stage, seconds: float) -> None:
        """One page's stage took so long."""
        self.stages[stage].note(seconds * 1000)

    def fields(self) -> dict[str, Any]:
        """For the heartbeat."""
        return {
            "pages_per_s": round(self.pages.per_s(), 2),
            "done": self.done,
            "failed": self.failed,
            "latency_ms": {stage: list(found.counts) for stage, found in self.stages.items()},
        }
