"""What comes in during the day: by hour, by chance, all at once, and as it was recorded.

The recorded part is a crawl of the lab by real workers (record.py): what was accepted in each
second, replayed as if the site were crawled anew at noon and in the evening.
"""

from __future__ import annotations

import json
import math
import random
from dataclasses import dataclass
from pathlib import Path

from bench.autoscaler.model import Hosts

DAY_S = 86_400
RECORDED = Path(__file__).with_name("recorded.json")
HOUR = 3600


@dataclass(frozen=True)
class Arrival:
    """So many requests for hosts of a kind, at a second of the day."""

    second: int
    kind: str
    number: float


def kinds() -> list[Hosts]:
    """The hosts of the day."""
    recorded = json.loads(RECORDED.read_text(encoding="utf-8"))
    return [
        Hosts(name="shops", number=400, delay_s=1.0),
        Hosts(name="web", number=5000, delay_s=1.0),
        Hosts(name="slow", number=1, delay_s=10.0, latency_s=2.0),
        Hosts(name="own", number=2, delay_s=0.0, together=16),
        Hosts(name="recorded", number=recorded["hosts"], delay_s=recorded["delay_s"]),
    ]


def day(seed: int) -> list[Arrival]:
    """The arrivals of a day, in order."""
    dice = random.Random(seed)
    arrivals = [*_tide(dice), *_hourly(), *_bursts(), *_replayed()]
    return sorted(arrivals, key=lambda arrival: arrival.second)


def _tide(dice: random.Random) -> list[Arrival]:
    """Visitors of an API: few at night, many in the afternoon, uneven all the time."""
    found = []
    for second in range(6 * HOUR, 22 * HOUR):
        mean = 60 * math.sin(math.pi * (second / HOUR - 6) / 16) ** 2
        number = max(0.0, dice.gauss(mean, mean / 2))
        found.append(Arrival(second, "shops", number))
    return found


def _hourly() -> list[Arrival]:
    """A schedule that asks two hosts of one's own, every hour."""
    return [Arrival(hour * HOUR, "own", 3000) for hour in range(24)]


def _bursts() -> list[Arrival]:
    """100,000 URLs on many hosts at 9, and at 14; 20,000 of one slow host at 2."""
    return [
        Arrival(2 * HOUR, "slow", 20_000),
        Arrival(9 * HOUR + 120, "web", 100_000),
        Arrival(14 * HOUR + 1800, "web", 100_000),
    ]


def _replayed() -> list[Arrival]:
    per_s = json.loads(RECORDED.read_text(encoding="utf-8"))["accepted_per_s"]
    return [
        Arrival(start + second, "recorded", number)
        for start in (12 * HOUR, 19 * HOUR)
        for second, number in enumerate(per_s)
    ]
