"""What the scaling policy is told: hosts that wait, and how busy the workers are.

Spiders that no worker has are not counted: more workers would not have them either.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from skitter.frontier.pressure import Depth, Pressure
from skitter.orchestrator.scaling_policy import Observed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from skitter.frontier import Frontier

MISSING_S = 300.0
SETTLE = 0.3  # of a new reading in the mean of what is drained


class Observer:
    """Looks at a frontier. mine says which workers count; only are the spiders they keep to."""

    def __init__(
        self,
        frontier: Frontier,
        *,
        mine: Callable[[str], bool] = lambda _: True,
        only: Sequence[str] = (),
        memory_left: Callable[[], int | None] = lambda: None,
    ) -> None:
        self._frontier = frontier
        self._mine = mine
        self._only = set(only)
        self._memory_left = memory_left
        self._pressure = Pressure(frontier.shards)
        self._settled: dict[str, int] = {}
        self._looked_at = 0.0
        self._drained_per_s = 0.0
        self._missing: dict[str, float] = {}

    async def look(self, *, present: int) -> Observed:
        """A moment, with so many workers started; those that say nothing yet are starting."""
        said = [one for one in await self._frontier.workers.list() if self._mine(str(one["name"]))]
        at_work = [one for one in said if one.get("state") in {"running", "waiting for the server"}]
        self._note_missing(at_work)
        jobs = [job for job in await self._pressure.jobs() if self._counts(job.spider)]
        depths = await self._pressure.depths(jobs)
        waiting = await self._pressure.waiting(sorted({job.lane for job in jobs}))
        self._note_drained(depths)
        return Observed(
            workers=len(at_work[:present]) if present else 0,
            starting=max(0, present - len(at_work)),
            queued=sum(depth.queued for depth in depths.values()),
            in_hand=sum(depth.leased for depth in depths.values()),
            ready_hosts=waiting.ready_hosts,
            overdue_s=waiting.overdue_ms / 1000,
            next_s=None if waiting.next_ms is None else waiting.next_ms / 1000,
            drained_per_s=self._drained_per_s,
            busy=_mean(at_work, "busy"),
            cpu=_mean(at_work, "cpu_percent") / 100,
            memory_each=max([int(one.get("memory", 0)) for one in at_work], default=0),
            memory_left=self._memory_left(),
        )

    def _counts(self, spider: str) -> bool:
        return spider not in self._missing and (not self._only or spider in self._only)

    def _note_missing(self, at_work: list[dict[str, Any]]) -> None:
        now = time.monotonic()
        if at_work:
            nowhere = set.intersection(*(set(one.get("missing", ())) for one in at_work))
            self._missing = dict.fromkeys(nowhere, now)
        # With nobody left to say it, it is tried again after a while.
        self._missing = {k: at for k, at in self._missing.items() if now - at < MISSING_S}

    def _note_drained(self, depths: dict[str, Depth]) -> None:
        now = time.monotonic()
        settled = {job: depth.settled for job, depth in depths.items()}
        if self._looked_at:
            done = sum(n - self._settled.get(job, n) for job, n in settled.items())
            rate = max(0.0, done / max(now - self._looked_at, 0.1))
            self._drained_per_s += SETTLE * (rate - self._drained_per_s)
        self._settled, self._looked_at = settled, now


def _mean(said: list[dict[str, Any]], field: str) -> float:
    return sum(float(one.get(field, 0.0)) for one in said) / len(said) if said else 0.0
