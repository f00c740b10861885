"""The crawl's figures for Prometheus, by the same names as the orchestrator's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, generate_latest

from skitter.frontier.pressure import Pressure
from skitter.orchestrator.metrics import queue_metrics, waiting_metrics, worker_states

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

    from skitter.frontier import Frontier


class _Gathered:
    """Metrics that were read before, as a collector."""

    def __init__(self, metrics: list[Metric]) -> None:
        self._metrics = metrics

    def collect(self) -> list[Metric]:
        return self._metrics


async def render(frontier: Frontier) -> str:
    """The figures as they are now; `skitter_queue_depth` by spider is for autoscalers."""
    pressure = Pressure(frontier.shards)
    jobs = await pressure.jobs()
    waiting = await pressure.waiting(sorted({job.lane for job in jobs}))
    stats = await frontier.stats.frontier()
    registry = CollectorRegistry(auto_describe=False)
    metrics = [
        *queue_metrics(jobs, await pressure.depths(jobs)),
        *waiting_metrics(waiting, dead_letters=stats.dead_letters),
        worker_states(await frontier.workers.list()),
    ]
    registry.register(_Gathered(metrics))
    return generate_latest(registry).decode()
