"""Clients that ask the API one question every two seconds each, and what became of it."""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import aiohttp

EVERY_S, TIMEOUT_S = 2.0, 10.0
JOB = "busy"
# What dashboards and scripts ask, by how often; the last ones change something.
QUESTIONS: list[tuple[int, str, str, dict[str, Any] | None]] = [
    (20, "GET", "/api/v1/jobs?limit=20", None),
    (30, "GET", f"/api/v1/jobs/{JOB}", None),
    (10, "GET", "/api/v1/status", None),
    (10, "GET", "/api/v1/hosts?limit=20", None),
    (10, "GET", f"/api/v1/items?job={JOB}&limit=20", None),
    (5, "GET", f"/api/v1/jobs/{JOB}/upcoming", None),
    (5, "GET", "/metrics", None),
    (3, "GET", "/api/v1/dead-letters?limit=20", None),
    (3, "POST", f"/api/v1/jobs/{JOB}/priority", {"priority": 1}),
    (3, "POST", "/api/v1/jobs", {"spider": "nobody", "seeds": ["http://h0.lab/"], "expires_s": 5}),
    (1, "POST", "/feed", {"appid": "bench", "uuid": "u", "stats": "queue"}),
]


@dataclass
class Outcome:
    """Answers by status, and how long they took."""

    statuses: Counter[str] = field(default_factory=Counter)
    took_ms: list[float] = field(default_factory=list)
    timeouts: int = 0
    failures: Counter[str] = field(default_factory=Counter)

    @property
    def errors(self) -> int:
        """Answers that are no success, and questions without an answer."""
        bad = sum(count for status, count in self.statuses.items() if not status.startswith("2"))
        return bad + sum(self.failures.values())

    def quantile_ms(self, share: float) -> float:
        ordered = sorted(self.took_ms)
        return round(ordered[min(len(ordered) - 1, int(share * len(ordered)))], 1)


async def ask_all(url: str, key: str, *, clients: int, seconds: float) -> Outcome:
    """Many clients, each with a connection of its own, spread over the two seconds."""
    outcome, ends_at = Outcome(), time.monotonic() + seconds
    await asyncio.gather(*(_client(url, key, outcome, n, ends_at) for n in range(clients)))
    return outcome


async def _client(url: str, key: str, outcome: Outcome, number: int, ends_at: float) -> None:
    dice = random.Random(number)
    weights = [weight for weight, *_ in QUESTIONS]
    headers = {"Authorization": f"Bearer {key}"}
    timeout = aiohttp.ClientTimeout(total=TIMEOUT_S)
    next_at = time.monotonic() + dice.random() * EVERY_S
    async with aiohttp.ClientSession(url, headers=headers, timeout=timeout) as session:
        while next_at < ends_at:
            await asyncio.sleep(max(0.0, next_at - time.monotonic()))
            (_, method, path, body) = dice.choices(QUESTIONS, weights)[0]
            await _ask(session, outcome, method, path, body)
            next_at = max(next_at + EVERY_S, time.monotonic())


async def _ask(
    session: aiohttp.ClientSession, outcome: Outcome, method: str, path: str, body: Any
) -> None:
    begun = time.perf_counter()
    try:
        async with session.request(method, path, json=body) as response:
            await response.read()
            outcome.statuses[str(response.status)] += 1
    except TimeoutError:
        outcome.timeouts += 1
    except aiohttp.ClientError as error:
        outcome.failures[type(error).__name__] += 1
    outcome.took_ms.append((time.perf_counter() - begun) * 1000)
