"""The orchestrator's figures for Prometheus. Their names are stable: autoscalers ask for them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

from skitter.frontier.pressure import Depth, LiveJob, Waiting

if TYPE_CHECKING:
    from collections.abc import Mapping

    from prometheus_client.metrics_core import Metric

    from skitter.orchestrator.alert_rules import AlertState, Key
    from skitter.orchestrator.duty import Record

BY_SPIDER = {
    "queued": ("skitter_queue_depth", "Requests that are queued"),
    "leased": ("skitter_leased", "Requests that workers have"),
    "delayed": ("skitter_delayed", "Requests that wait for another try"),
}


def queue_metrics(jobs: list[LiveJob], depths: Mapping[str, Depth]) -> list[Metric]:
    """What is queued, by spider."""
    found: list[Metric] = []
    for field, (name, text) in BY_SPIDER.items():
        totals: Counter[str] = Counter()
        for job in jobs:
            totals[job.spider] += getattr(depths[job.id], field)
        found.append(_gauge(name, text, label="spider", values=totals))
    live = Counter(job.spider for job in jobs)
    found.append(
        _gauge("skitter_live_jobs", "Jobs that have not ended", label="spider", values=live)
    )
    return found


def waiting_metrics(waiting: Waiting, *, dead_letters: int) -> list[Metric]:
    """What waits for workers, and what was given up."""
    return [
        _one("skitter_ready_hosts", "Hosts that could be asked now", waiting.ready_hosts),
        _one(
            "skitter_oldest_wait_seconds",
            "How long the first of them has waited",
            waiting.overdue_ms / 1000,
        ),
        _one("skitter_dead_letters", "Requests that were given up", dead_letters),
    ]


def worker_states(said: list[dict[str, Any]]) -> Metric:
    """Worker processes by state."""
    states = Counter(str(one.get("state", "unknown")) for one in said)
    return _gauge("skitter_workers", "Worker processes", label="state", values=states)


def alert_metrics(states: Mapping[Key, AlertState]) -> Metric:
    """Rules that fire."""
    firing = Counter(state.rule for state in states.values() if state.phase == "firing")
    return _gauge("skitter_alerts_firing", "Alerts that fire", label="rule", values=firing)


def loop_metrics(records: Mapping[str, Record], *, leading: bool) -> list[Metric]:
    """How this process's loops go."""
    runs = CounterMetricFamily("skitter_loop_runs", "Rounds of a loop", labels=["loop"])
    failures = CounterMetricFamily("skitter_loop_failures", "Rounds that failed", labels=["loop"])
    for name, record in records.items():
        runs.add_metric([name], record.runs)
        failures.add_metric([name], record.failures)
    text = "Whether this orchestrator leads"
    return [_one("skitter_orchestrator_leading", text, float(leading)), runs, failures]


def _gauge(name: str, text: str, *, label: str, values: Mapping[str, float]) -> Metric:
    gauge = GaugeMetricFamily(name, text, labels=[label])
    for key, value in values.items():
        gauge.add_metric([key], value)
    return gauge


def _one(name: str, text: str, value: float) -> Metric:
    gauge = GaugeMetricFamily(name, text)
    gauge.add_metric([], value)
    return gauge
