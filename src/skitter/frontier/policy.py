"""How a host may be asked, and how long a request waits before it is tried again."""

from __future__ import annotations

import random
from dataclasses import dataclass
from dataclasses import fields as dataclass_fields
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Config:
    """What all processes on a frontier share; kept in the shards.

    A delay above zero means one request at a time; concurrency is for hosts without one.
    """

    lease_ms: int = 30_000
    turn_ms: int = 5_000
    delay_ms: int = 1_000
    concurrency: int = 8
    latency_factor: float = 1.0
    max_delay_ms: int = 300_000
    max_retry_after_ms: int = 3_600_000
    alone_after_crashes: int = 2
    max_crashes: int = 10
    idle_host_ttl_ms: int = 30 * 86_400_000

    def fields(self) -> dict[str, int | float]:
        """By the names that the scripts know."""
        return {
            "lease": self.lease_ms,
            "turn": self.turn_ms,
            "delay": self.delay_ms,
            "conc": self.concurrency,
            "factor": self.latency_factor,
            "max_delay": self.max_delay_ms,
            "max_wait": self.max_retry_after_ms,
            "alone": self.alone_after_crashes,
            "crashes": self.max_crashes,
            "idle": self.idle_host_ttl_ms,
        }

    def standing(self, fields: dict[str, bytes]) -> Config:
        """The settings that the shards have, by the names that the scripts know."""
        names = dict(
            zip(self.fields(), (entry.name for entry in dataclass_fields(self)), strict=True)
        )
        values = {names[short]: float(value) for short, value in fields.items()}
        factor = values.pop("latency_factor")
        return Config(latency_factor=factor, **{name: int(value) for name, value in values.items()})


@dataclass(frozen=True, kw_only=True)
class HostPolicy:
    """A host's own policy: what is None is left as it is.

    crawl_delay_ms comes from robots.txt and can only slow a host down; robots_ms says for how long
    its robots.txt counts as known. budget bounds the requests in each budget_ms.
    """

    delay_ms: int | None = None
    concurrency: int | None = None
    crawl_delay_ms: int | None = None
    robots_ms: int | None = None
    budget: int | None = None
    budget_ms: int | None = None
    blocked: bool | None = None

    def fields(self) -> dict[str, Any]:
        """By the names that the scripts know; False clears a field."""
        named = {
            "pd": self.delay_ms,
            "pc": self.concurrency,
            "cd": self.crawl_delay_ms,
            "robots_ms": self.robots_ms,
            "bm": self.budget,
            "bp": self.budget_ms,
            "bl": None if self.blocked is None else (1 if self.blocked else False),
        }
        return {name: value for name, value in named.items() if value is not None}


@dataclass(frozen=True, kw_only=True)
class RetryPolicy:
    """Exponential back-off with jitter; a reason may have a base of its own."""

    max_attempts: int = 4
    base_ms: int = 2_000
    factor: float = 2.0
    max_ms: int = 600_000
    jitter: float = 0.5
    base_ms_by_reason: tuple[tuple[str, int], ...] = ()

    def wait_ms(self, attempts: int, *, reason: str = "", retry_after_ms: float = 0) -> int | None:
        """How long to wait after `attempts` earlier tries, or None when this was the last."""
        if attempts + 1 >= self.max_attempts:
            return None
        base = dict(self.base_ms_by_reason).get(reason, self.base_ms)
        wait = min(self.max_ms, base * self.factor**attempts)
        wait *= 1 + self.jitter * (random.random() * 2 - 1)
        return int(max(wait, retry_after_ms))
