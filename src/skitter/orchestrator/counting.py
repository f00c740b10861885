"""Counters over time: how much each has grown within a window. Pure: it is told the time.

Some of the samples are kept for the next leader (`alert_rows`), who goes on with them.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

MOST_SAMPLES = 720


@dataclass(frozen=True, slots=True)
class Sample:
    """All counters at one moment; or, where it is not whole, some of them."""

    at: float
    counters: Mapping[str, float]
    whole: bool = True

    def cut(self, most: int) -> Sample:
        """The first so many counters of it."""
        if len(self.counters) <= most:
            return self
        return Sample(self.at, dict(islice(self.counters.items(), most)), whole=False)


class Counting:
    """Samples of counters; the oldest go when there are too many, or they are too old."""

    def __init__(self, *, keep_s: float) -> None:
        self.keep_s = keep_s
        self._samples: deque[Sample] = deque(maxlen=MOST_SAMPLES)

    @property
    def last(self) -> Sample | None:
        """The newest sample."""
        return self._samples[-1] if self._samples else None

    def go_on(self, samples: Iterable[Sample], *, now: float) -> None:
        """Begin with what another has noted; what its clock had as later than now is left."""
        past = (sample for sample in samples if now - self.keep_s <= sample.at < now)
        self._samples = deque(sorted(past, key=lambda sample: sample.at), maxlen=MOST_SAMPLES)

    def note(self, at: float, counters: Mapping[str, float]) -> None:
        """Keep a sample; no closer to the last one than what is kept in all allows."""
        if len(self._samples) > 1 and at - self._samples[-2].at < self.keep_s / MOST_SAMPLES:
            self._samples.pop()
        self._samples.append(Sample(at, counters))
        while self._samples and self._samples[0].at < at - self.keep_s:
            self._samples.popleft()

    def growth(self, window_s: float) -> dict[str, float]:
        """How much each counter grew within the window; one that came later counts from zero."""
        if not self._samples:
            return {}
        last = self._samples[-1]
        window = [sample for sample in self._samples if sample.at >= last.at - window_s]
        return {
            name: max(0.0, value - _first(name, window)) for name, value in last.counters.items()
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


def _first(name: str, window: Sequence[Sample]) -> float:
    """A counter as it was at first: zero, if a whole sample did not have it yet."""
    for sample in window:
        if name in sample.counters or sample.whole:
            return sample.counters.get(name, 0.0)
    return 0.0
