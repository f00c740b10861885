"""How fast a crawl is, and when it may be over: rates over the last seconds, and an honest guess.

A crawl that still finds more than it settles has no end in sight, and then none is told. All of it
is a function of the readings given, so that tests need no clock.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from skitter.frontier.stats import JobStats

WINDOW_S = 15.0
LEAST_S = 3.0
"""Rates of less time than that are noise."""


@dataclass(frozen=True, kw_only=True)
class Reading:
    """The counters of one job, or of several together, at one moment."""

    at_s: float
    accepted: int = 0
    settled: int = 0
    queued: int = 0
    leased: int = 0
    delayed: int = 0
    buried: int = 0
    pages: int = 0
    items: int = 0
    errors: int = 0

    @property
    def pending(self) -> int:
        """What has not ended."""
        return self.accepted - self.settled

    @classmethod
    def of(cls, stats: JobStats, *, at_s: float) -> Reading:
        """A job's counters. An error is an attempt that failed, whatever came after it."""
        return cls(
            at_s=at_s,
            accepted=stats.accepted,
            settled=stats.settled,
            queued=stats.queued,
            leased=stats.leased,
            delayed=stats.delayed,
            buried=stats.buried,
            pages=stats.pages,
            items=stats.figures.get("items", 0),
            errors=stats.retries + stats.buried,
        )


class Meter:
    """Takes readings, and tells rates and the time that is left."""

    def __init__(self, window_s: float = WINDOW_S) -> None:
        self._window_s = window_s
        self._readings: deque[Reading] = deque()

    def note(self, reading: Reading) -> None:
        """One more; those before the window are forgotten, but for the last of them."""
        self._readings.append(reading)
        while len(self._readings) > 2 and reading.at_s - self._readings[1].at_s >= self._window_s:
            self._readings.popleft()

    @property
    def last(self) -> Reading | None:
        """The newest reading."""
        return self._readings[-1] if self._readings else None

    def per_s(self, name: str) -> float | None:
        """How fast a counter grows; None as long as it cannot be told."""
        if not self._readings:
            return None
        first, last = self._readings[0], self._readings[-1]
        took_s = last.at_s - first.at_s
        if took_s < LEAST_S:
            return None
        return max(0.0, float(getattr(last, name) - getattr(first, name))) / took_s

    def left_s(self, *, max_pages: int | None = None) -> float | None:
        """How long it may still take; None when nobody can know."""
        guesses = [self._until_empty()]
        if max_pages is not None:
            guesses.append(self._until_limit(max_pages))
        known = [guess for guess in guesses if guess is not None]
        return min(known) if known else None

    def _until_empty(self) -> float | None:
        last, settled, accepted = self.last, self.per_s("settled"), self.per_s("accepted")
        if last is None or settled is None or accepted is None:
            return None
        if settled <= 0 or accepted > 0.5 * settled:
            return None  # it finds about as much as it ends: the end is not in sight
        return last.pending / (settled - accepted)

    def _until_limit(self, max_pages: int) -> float | None:
        last, pages = self.last, self.per_s("pages")
        if last is None or not pages:
            return None
        return max(0, max_pages - last.pages) / pages
