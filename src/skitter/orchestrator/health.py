"""What an orchestrator's health server tells: whether it can work, and figures of the crawl."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skitter.frontier.pressure import Pressure
from skitter.orchestrator.alert_rows import read_states
from skitter.orchestrator.metrics import (
    alert_metrics,
    loop_metrics,
    queue_metrics,
    waiting_metrics,
    worker_states,
)
from skitter.worker.health import Health

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

    from skitter.orchestrator.duties import Services
    from skitter.orchestrator.orchestrator import Orchestrator


def orchestrator_health(orchestrator: Orchestrator, services: Services) -> Health:
    """The answers of an orchestrator. It is ready when its server and its store answer."""
    figures = _Figures(orchestrator, services)

    async def ready() -> dict[str, Any]:
        await services.frontier.workers.list()
        await services.store.read(lambda _: None)
        return {"leading": orchestrator.leader.leading, "term": orchestrator.term}

    return Health(ready=ready, figures=figures.read)


class _Figures:
    """Read anew at each question: an outside autoscaler wants what is now."""

    def __init__(self, orchestrator: Orchestrator, services: Services) -> None:
        self._orchestrator = orchestrator
        self._frontier = services.frontier
        self._store = services.store
        self._pressure = Pressure(services.frontier.shards)

    async def read(self) -> list[Metric]:
        jobs = await self._pressure.jobs()
        depths = await self._pressure.depths(jobs)
        waiting = await self._pressure.waiting(sorted({job.lane for job in jobs}))
        shards = self._frontier.shards
        dead = sum([int(await shards.command("ZCARD", f"{p}xt")) for p in shards.prefixes])
        records, leading = self._orchestrator.records, self._orchestrator.leader.leading
        return [
            *queue_metrics(jobs, depths),
            *waiting_metrics(waiting, dead_letters=dead),
            worker_states(await self._frontier.workers.list()),
            alert_metrics(await self._store.read(read_states)),
            *loop_metrics(records, leading=leading),
        ]
