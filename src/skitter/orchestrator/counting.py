"""Counters over time: how much each has grown within a window. Pure: it is told the time.

One process's memory: a new leader begins anew, and a window is then as long as it has led.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

MOST_SAMPLES = 720


@dataclass(frozen=True, slots=True)
class Sample:
    """All counters at one moment."""

    at: float
    counters: Mapping[str, float]


class Counting:
    """Samples of counters; the oldest go when there are too many, or they are too old."""

    def __init__(self, *, keep_s: float) -> None:
        self._keep_s = keep_s
        self._samples: deque[Sample] = deque(maxlen=MOST_SAMPLES)

    def note(self, at: float, counters: Mapping[str, float]) -> None:
        """Keep a sample; no closer to the last one than what is kept in all allows."""
        if len(self._samples) > 1 and at - self._samples[-2].at < self._keep_s / MOST_SAMPLES:
            self._samples.pop()
        self._samples.append(Sample(at, counters))
        while self._samples and self._samples[0].at < at - self._keep_s:
            self._samples.popleft()

    def growth(self, window_s: float) -> dict[str, float]:
        """How much each counter grew within the window; one that came later counts from zero."""
        if not self._samples:
            return {}
        last = self._samples[-1]
        first = next(sample for sample in self._samples if sample.at >= last.at - window_s)
        return {
            name: max(0.0, value - first.counters.get(name, 0.0))
            for name, value in last.counters.items()
        }

    def still_s(self, name: str) -> float:
        """For how long a counter has not changed, as far as it was watched."""
        if not self._samples:
            return 0.0
        last = self._samples[-1]
        since = last.at
        for sample in reversed(self._samples):
            if sample.counters.get(name) != last.counters.get(name):
                break
            since = sample.at
        return last.at - since
