"""The figures that alert rules judge, measured: counters of jobs and hosts, workers that are lost.

What a figure of a window is made of is in this process's memory, and a part of it in the store, for
the next leader to go on with.
"""

from __future__ import annotations

import time
from collections import defaultdict
from typing import TYPE_CHECKING

from skitter.errors import UnknownJob
from skitter.frontier.pressure import Depth, LiveJob, Pressure
from skitter.orchestrator.alert_rows import read_quality_failed
from skitter.orchestrator.counting import Counting

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from skitter.frontier import Frontier
    from skitter.orchestrator.alert_rules import Figures, Rule
    from skitter.store import Store

HOSTS = 50
MOST_STALLED = 50
SOON_MS = 10_000
GROWING = ("error_share", "host_error_share", "dead_letters_growth")


class Watcher:
    """Measures. clock is for tests, in seconds since 1970."""

    def __init__(
        self,
        frontier: Frontier,
        store: Store,
        rules: Mapping[str, Rule],
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._frontier = frontier
        self._store = store
        self._rules = rules
        self._clock = clock
        self._pressure = Pressure(frontier.shards)
        windows = [rule.window_s for rule in rules.values() if rule.figure in GROWING]
        stalled = [2 * rule.above for rule in rules.values() if rule.figure == "stalled_s"]
        self.counting = Counting(keep_s=max([300.0, *windows, *stalled]))
        self._jobs: list[LiveJob] = []
        self._depths: dict[str, Depth] = {}

    async def look(self) -> Figures:
        """The figures of all rules, now."""
        self._jobs = await self._pressure.jobs()
        self._depths = await self._pressure.depths(self._jobs)
        counters = {"dead": await self._dead_letters()} | await self._host_counters()
        counters |= self._job_counters()  # last: of very many, some are not kept for the next
        self.counting.note(self._clock(), counters)
        return {rule.name: await self._measure(rule) for rule in self._rules.values()}

    async def _measure(self, rule: Rule) -> dict[str, float]:
        asked = {
            "stalled_s": self._stalled,
            "lost_workers": self._lost,
            "quality_failed": self._quality_failed,
        }
        if rule.figure in asked:
            return await asked[rule.figure](rule)
        if rule.figure == "queued":
            return self._queued()
        growth = self.counting.growth(rule.window_s)
        if rule.figure == "dead_letters_growth":
            return {"": growth.get("dead", 0.0)}
        kind = "host" if rule.figure == "host_error_share" else "job"
        return _shares(growth, kind, least=rule.least)

    async def _lost(self, rule: Rule) -> dict[str, float]:
        lost = await self._frontier.workers.lost(within_ms=int(rule.window_s * 1000))
        return dict.fromkeys(lost, 1.0)

    def _queued(self) -> dict[str, float]:
        found: dict[str, float] = defaultdict(float)
        for job in self._jobs:
            found[job.spider] += self._depths[job.id].queued
        return dict(found)

    async def _stalled(self, rule: Rule) -> dict[str, float]:
        still = {
            job: self.counting.still_s(f"job settled {job.id}")
            for job in self._jobs
            if self._depths[job.id].pending
        }
        suspects = [job for job, seconds in still.items() if seconds > rule.above]
        return {job.id: still[job] for job in suspects[:MOST_STALLED] if await self._could_go(job)}

    async def _could_go(self, job: LiveJob) -> bool:
        """Whether a job that does not move could: it runs, and some host of it may be asked."""
        try:
            record = await self._frontier.jobs.record(job.id)
        except UnknownJob:
            return False
        if record.state != "running":
            return False
        waiting = await self._pressure.waiting([job.lane])
        if waiting.next_ms is not None and waiting.next_ms <= SOON_MS:
            return True
        # Its hosts may have been leased since the depths were read: then they do not wait.
        [depth] = (await self._pressure.depths([job])).values()
        return depth.leased > 0

    async def _quality_failed(self, rule: Rule) -> dict[str, float]:
        since = self._clock() - rule.window_s
        jobs = await self._store.read(lambda found: read_quality_failed(found, since=since))
        return dict.fromkeys(jobs, 1.0)

    def _job_counters(self) -> dict[str, float]:
        found: dict[str, float] = {}
        for job, depth in self._depths.items():
            found[f"job failed {job}"] = depth.retries + depth.buried + depth.crashes
            found[f"job tried {job}"] = depth.done + depth.retries + depth.buried + depth.crashes
            found[f"job settled {job}"] = depth.settled + depth.retries + depth.pages
        return found

    async def _host_counters(self) -> dict[str, float]:
        found: dict[str, float] = {}
        for host in await self._frontier.hosts.ranking("failed", limit=HOSTS):
            found[f"host failed {host.host}"] = host.failed
            found[f"host tried {host.host}"] = max(host.fetched, host.failed)
        return found

    async def _dead_letters(self) -> float:
        shards = self._frontier.shards
        return float(sum([int(await shards.command("ZCARD", f"{p}xt")) for p in shards.prefixes]))


def _shares(growth: Mapping[str, float], kind: str, *, least: int) -> dict[str, float]:
    """The failed part of what was tried, by label, where enough was tried."""
    head = f"{kind} tried "
    return {
        name.removeprefix(head): growth.get(f"{kind} failed {name.removeprefix(head)}", 0.0) / tried
        for name, tried in growth.items()
        if name.startswith(head) and tried >= max(1, least)
    }
