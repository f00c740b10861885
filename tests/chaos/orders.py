"""What a process of a round is told: plain values, for they travel as JSON."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from skitter.frontier import Config

JOB = "chaos"
SPIDER = "chaos"
LEASE_MS = 1000


@dataclass(frozen=True)
class Order:
    """reap names the dead worker in whose place this one comes, if its death was reported."""

    url: str
    worker: str
    folder: str
    seed: int
    plant: str = ""
    reap: str = ""
    skewed: bool = False
    more: dict[str, Any] = field(default_factory=dict)


def round_config() -> Config:
    """Short leases and short turns, so that a round of seconds sees many of both end."""
    return Config(
        lease_ms=LEASE_MS,
        turn_ms=150,
        delay_ms=0,
        concurrency=4,
        max_crashes=200,
    )
