"""Figures of the frontier for Prometheus, read when they are asked for.

`skitter_queue_depth` by spider is the one that outside autoscalers hang on: its name stays.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily

from skitter.errors import UnknownJob

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skitter.frontier import Frontier
    from skitter.frontier.stats import FrontierStats

MOST_JOBS = 1_000


class _Figures:
    """Read once, given once."""

    def __init__(
        self, depth: Counter[str], delayed: Counter[str], totals: FrontierStats, rate: float
    ) -> None:
        self._by_spider = {
            "skitter_queue_depth": ("Requests that wait for their turn, by spider.", depth),
            "skitter_requests_delayed": ("Requests that are tried again later.", delayed),
        }
        self._totals = {
            "skitter_live_jobs": ("Jobs that have not ended.", totals.live_jobs),
            "skitter_requests_leased": ("Requests in workers' hands.", totals.leased),
            "skitter_dead_letters": ("Requests that were given up.", totals.dead_letters),
            "skitter_workers": ("Workers that hold something.", totals.workers),
            "skitter_pages_per_second": ("Pages a second, over the last minute.", rate),
        }

    def collect(self) -> Iterator[GaugeMetricFamily]:
        for name, (help_text, counts) in self._by_spider.items():
            family = GaugeMetricFamily(name, help_text, labels=["spider"])
            for spider, number in sorted(counts.items()):
                family.add_metric([spider], number)
            yield family
        for name, (help_text, value) in self._totals.items():
            yield GaugeMetricFamily(name, help_text, value=value)


async def render(frontier: Frontier) -> str:
    """The figures in the text form of Prometheus; of the first thousand jobs, if there are more."""
    depth: Counter[str] = Counter()
    delayed: Counter[str] = Counter()
    for job in (await frontier.jobs.live())[:MOST_JOBS]:
        try:
            spider = (await frontier.jobs.known(job)).job.spider
            stats = await frontier.stats.job(job)
        except UnknownJob:  # it was forgotten meanwhile
            continue
        depth[spider] += stats.queued
        delayed[spider] += stats.delayed
    workers = await frontier.workers.list()
    rate = sum(float(worker.get("pages_per_s", 0)) for worker in workers)
    registry = CollectorRegistry()
    registry.register(_Figures(depth, delayed, await frontier.stats.frontier(), rate))
    return generate_latest(registry).decode()
