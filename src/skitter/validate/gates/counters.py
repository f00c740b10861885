"""Counters that stay small however long a run is: repeated keys, a median, the newest time.

Each is exact up to a bound, and an estimate past it that needs no more memory.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal, InvalidOperation
from hashlib import blake2b
from random import Random
from statistics import median
from typing import Any

MOST_KEYS = 100_000
MOST_NUMBERS = 100_000
AHEAD = timedelta(days=1)
LONGEST_NUMBER = 64


class Repeats:
    """The share of keys that came before, exact up to MOST_KEYS different ones.

    Past that it goes by a sample of the keys, those whose digest ends in enough zeros: all that
    came with a key in the sample is counted, so that the share is that of all (about 10 MB).
    """

    def __init__(self, most: int = MOST_KEYS) -> None:
        self._most = most
        self._counts: dict[int, int] = {}
        self._mask = 0

    def add(self, key: Sequence[Any]) -> None:
        text = repr([_told_apart(part) for part in key]).encode("utf-8", "surrogatepass")
        digest = int.from_bytes(blake2b(text, digest_size=8).digest())
        if digest & self._mask:
            return
        self._counts[digest] = self._counts.get(digest, 0) + 1
        while len(self._counts) > self._most:
            self._mask = self._mask * 2 + 1
            self._counts = {
                one: count for one, count in self._counts.items() if not one & self._mask
            }

    def share(self) -> float:
        total = sum(self._counts.values())
        return (total - len(self._counts)) / total if total else 0.0


class Median:
    """The median of numbers, exact up to MOST_NUMBERS of them (800 kB).

    Past that, of an even sample of that many: its rank is then right within half a percent.
    """

    def __init__(self, most: int = MOST_NUMBERS) -> None:
        self._most = most
        self._kept = array("d")
        self._seen = 0
        self._dice = Random(0)

    def add(self, number: float) -> None:
        self._seen += 1
        if len(self._kept) < self._most:
            self._kept.append(number)
            return
        place = self._dice.randrange(self._seen)
        if place < self._most:
            self._kept[place] = number

    def value(self) -> float | None:
        return median(self._kept) if self._kept else None


class Newest:
    """The newest time. What lies more than a day ahead of now is an error, and no news."""

    def __init__(self, now: datetime) -> None:
        self._latest = now + AHEAD
        self._newest: datetime | None = None

    def add(self, moment: datetime) -> None:
        if moment <= self._latest and (self._newest is None or moment > self._newest):
            self._newest = moment

    def value(self) -> datetime | None:
        return self._newest


def number_of(value: Any) -> float | None:
    """A value as a finite number, also where a sink keeps a decimal as text; or None."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal | str):
        return None
    if isinstance(value, str) and len(value) > LONGEST_NUMBER:
        return None
    try:
        number = float(Decimal(value))
    except (InvalidOperation, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def moment_of(value: Any) -> datetime | None:
    """A value as a time in UTC, also as ISO 8601 text; a day alone is its end; or None."""
    try:
        if isinstance(value, str):
            day = len(value) <= len("2026-11-16")
            value = date.fromisoformat(value) if day else datetime.fromisoformat(value)
        if isinstance(value, datetime):
            return value.astimezone(UTC) if value.tzinfo else value.replace(tzinfo=UTC)
        return datetime.combine(value, time.max, UTC) if isinstance(value, date) else None
    except (ValueError, OverflowError):
        return None


def _told_apart(value: Any) -> Any:
    """1 and 1.0 and their text are one key, as sinks may give any of them back."""
    return str(value) if isinstance(value, int | float | Decimal | date) else value
