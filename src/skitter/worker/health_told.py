"""What a worker's health server tells: whether its processes are at work, and their figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

from skitter.worker.health import Health, NotReady

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

    from skitter.frontier import Frontier
    from skitter.worker.supervisor import Supervisor

GAUGES = {
    "busy": ("skitter_worker_busy", "How full a process's hands are, 1 is full"),
    "in_hand": ("skitter_worker_in_hand", "Requests that a process has and has not settled"),
    "in_flight": ("skitter_worker_in_flight", "Requests under way"),
    "memory": ("skitter_worker_memory_bytes", "Memory of a process"),
    "cpu_percent": ("skitter_worker_cpu_percent", "CPU of a process, of one core"),
    "pages_per_s": ("skitter_worker_pages_per_second", "Pages in a second, over a minute"),
}
COUNTERS = {
    "done": ("skitter_worker_done", "Requests that a process has done"),
    "failed": ("skitter_worker_failed", "Requests that a process has retried or buried"),
}


def worker_health(frontier: Frontier, supervisor: Supervisor) -> Health:
    """The answers of a worker."""

    async def mine() -> list[dict[str, Any]]:
        said = await frontier.workers.list()
        return [one for one in said if str(one["name"]).startswith(f"{supervisor.name}.")]

    async def ready() -> dict[str, Any]:
        await frontier.workers.list()  # the server answers
        if supervisor.places and not supervisor.ready:
            raise NotReady(reason="none of its processes is at work yet")
        return {"processes": supervisor.places, "at_work": supervisor.ready}

    async def figures() -> list[Metric]:
        return worker_metrics(await mine(), places=supervisor.places)

    return Health(ready=ready, figures=figures)


def worker_metrics(said: list[dict[str, Any]], *, places: int) -> list[Metric]:
    """Figures of processes, from what their heartbeats say."""
    wanted = GaugeMetricFamily("skitter_worker_processes", "Processes that there are to be")
    wanted.add_metric([], places)
    found: list[Metric] = [wanted]
    for field, (name, text) in GAUGES.items():
        gauge = GaugeMetricFamily(name, text, labels=["worker"])
        found.append(_filled(gauge, said, field))
    for field, (name, text) in COUNTERS.items():
        counter = CounterMetricFamily(name, text, labels=["worker"])
        found.append(_filled(counter, said, field))
    return found


def _filled(
    family: GaugeMetricFamily | CounterMetricFamily, said: list[dict[str, Any]], field: str
) -> Metric:
    for one in said:
        family.add_metric([str(one["name"])], float(one.get(field, 0)))
    return family
