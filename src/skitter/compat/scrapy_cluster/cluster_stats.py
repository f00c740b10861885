"""The cluster in Scrapy Cluster's words: messages taken, spiders, machines, queues.

Its parts have other names here: what the kafka-monitor did is done where messages are fed, what the
redis-monitor did by the actions. Pages are counted by their class of status (2xx), over the lives
of the jobs that are live now; windows of time are kept for messages alone.
"""

from __future__ import annotations

import socket
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

from skitter.frontier.queues import waiting_by_host
from skitter.frontier.urls import registered_domain

if TYPE_CHECKING:
    from skitter.compat.scrapy_cluster.counts import FeedCounts
    from skitter.frontier import Frontier
    from skitter.jobs.service import Jobs

FED, ACTED = "fed", "acted"
MOST_JOBS, MOST_DOMAINS = 1_000, 1_000
_PARTS = {
    "crawler": ("spiders", "machines", "queues"),
    "spider": ("spiders",),
    "machine": ("machines",),
    "queue": ("queues",),
}


class ClusterStats:
    """Gathers what a stats request asks for."""

    def __init__(self, jobs: Jobs, frontier: Frontier, *, counts: FeedCounts) -> None:
        self._jobs = jobs
        self._frontier = frontier
        self._counts = counts

    async def tell(self, which: str) -> dict[str, Any]:
        """The fields of the answer."""
        if which == "all":
            return {
                "kafka-monitor": await self._monitor(FED),
                "redis-monitor": await self._monitor(ACTED),
                "crawler": await self._crawler(_PARTS["crawler"]),
                "rest": {"nodes": self._nodes()},
            }
        if which in ("kafka-monitor", "redis-monitor"):
            return await self._monitor(FED if which == "kafka-monitor" else ACTED)
        if which == "rest":
            return {"nodes": self._nodes()}
        return await self._crawler(_PARTS[which])

    async def _monitor(self, part: str) -> dict[str, Any]:
        """Messages by their handlers, in windows of time; `fail` only where there was one."""
        plugins: dict[str, dict[str, int]] = {}
        found: dict[str, Any] = {"nodes": self._nodes(), "plugins": plugins}
        for name, windows in (await self._counts.windows()).items():
            kind, _, handler = name.partition(":")
            if kind != part:
                continue
            if handler in ("total", "fail"):
                found[handler] = windows
            else:
                plugins[handler] = windows
        return found

    async def _crawler(self, parts: tuple[str, ...]) -> dict[str, Any]:
        """Only what is asked for: to go through all queues takes a while."""
        found: dict[str, Any] = {}
        workers = await self._frontier.workers.list()
        if "spiders" in parts:
            found["spiders"] = await self._spiders(workers)
        if "machines" in parts:
            found["machines"] = _machines(workers)
        if "queues" in parts:
            found["queues"] = await self._queues()
        return found

    async def _spiders(self, workers: list[dict[str, Any]]) -> dict[str, Any]:
        running: Counter[str] = Counter()
        for worker in workers:
            running.update(str(lane["spider"]) for lane in worker.get("lanes", ()))
        statuses: dict[str, Counter[str]] = defaultdict(Counter)
        for job in (await self._frontier.jobs.live())[:MOST_JOBS]:
            spider = (await self._frontier.jobs.known(job)).job.spider
            for name, number in (await self._frontier.stats.job(job)).figures.items():
                if name.startswith("status_"):
                    statuses[spider][name.removeprefix("status_")] += number
        spiders: dict[str, Any] = {
            name: {"count": running[name]}
            | {status: {"lifetime": number} for status, number in sorted(statuses[name].items())}
            for name in sorted({*running, *statuses})
        }
        spiders["unique_spider_count"] = len(running)
        spiders["total_spider_count"] = running.total()
        return spiders

    async def _queues(self) -> dict[str, Any]:
        """What waits, by spider and registered domain."""
        backlog: dict[str, Counter[str]] = defaultdict(Counter)
        for job in (await self._frontier.jobs.live())[:MOST_JOBS]:
            spider = (await self._frontier.jobs.known(job)).job.spider
            for host, waiting in (await waiting_by_host(self._frontier, job)).items():
                backlog[spider][registered_domain(host)] += waiting.total
        queues: dict[str, Any] = {
            f"queue_{spider}": {
                "spider_backlog": domains.total(),
                "num_domains": len(domains),
                "domains": [
                    {"domain": domain, "backlog": number}
                    for domain, number in domains.most_common(MOST_DOMAINS)
                ],
            }
            for spider, domains in backlog.items()
        }
        queues["total_backlog"] = sum(domains.total() for domains in backlog.values())
        return queues

    def _nodes(self) -> dict[str, list[str]]:
        return {socket.gethostname(): [self._frontier.worker]}


def _machines(workers: list[dict[str, Any]]) -> dict[str, Any]:
    done: Counter[str] = Counter()
    failed: Counter[str] = Counter()
    for worker in workers:
        host = str(worker.get("host", ""))
        done[host] += int(worker.get("done", 0))
        failed[host] += int(worker.get("failed", 0))
    machines: dict[str, Any] = {
        host: {"done": {"lifetime": done[host]}, "failed": {"lifetime": failed[host]}}
        for host in sorted(done)
    }
    return machines | {"count": len(done)}
