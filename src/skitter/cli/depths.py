"""`skitter status --debug`: the server behind it, its shards, and how long each stage takes."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from rich.table import Table

from skitter.worker.figures import BUCKETS, STAGES, Histogram

if TYPE_CHECKING:
    from skitter.frontier import Frontier

_INDEXES = {
    "live": "live jobs",
    "due": "leases and permits",
    "z": "to be tried again",
    "xt": "dead letters",
    "hp": "hosts with a queue",
}
_SETS = {"maybe": "perhaps complete", "sweep": "to be swept", "unpark": "to be unparked"}
_FACTS = ("used_memory_human", "maxmemory_human", "maxmemory_policy", "connected_clients",
          "instantaneous_ops_per_sec", "aof_enabled", "aof_last_write_status", "run_id",
          "uptime_in_seconds")  # fmt: skip


async def look_deeper(frontier: Frontier, workers: list[dict[str, Any]]) -> dict[str, Any]:
    """Figures for whoever wants to know why."""
    begun = time.perf_counter()
    await frontier.shards.command("ZCARD", f"{frontier.shards.prefixes[0]}live")
    trip_ms = (time.perf_counter() - begun) * 1000
    return {
        "round_trip_ms": round(trip_ms, 2),
        "server": await _server(frontier),
        "shards": [await _shard(frontier, prefix) for prefix in frontier.shards.prefixes],
        "stages_ms": stages(workers),
        "config": frontier.config.fields(),
    }


async def _server(frontier: Frontier) -> dict[str, Any]:
    info = await frontier.shards.server.client.info()
    return {name: info[name] for name in _FACTS if name in info}


async def _shard(frontier: Frontier, prefix: str) -> dict[str, int]:
    found = {}
    for key, name in _INDEXES.items():
        found[name] = int(await frontier.shards.command("ZCARD", prefix + key))
    for key, name in _SETS.items():
        found[name] = int(await frontier.shards.command("SCARD", prefix + key))
    return found


def stages(workers: list[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """How long half, and 95 of 100 pages, took at most in each stage, over all workers."""
    merged = {stage: Histogram() for stage in STAGES}
    for said in workers:
        for stage, counts in said.get("latency_ms", {}).items():
            if stage in merged and len(counts) == BUCKETS:
                histogram = merged[stage]
                histogram.counts = [a + b for a, b in zip(histogram.counts, counts, strict=True)]
    return {
        stage: {"p50": found.quantile_ms(0.5), "p95": found.quantile_ms(0.95)}
        for stage, found in merged.items()
    }


def depths_table(depths: dict[str, Any]) -> Table:
    """The same for people."""
    table = Table("debug", "", show_header=True)
    table.add_row("round trip", f"{depths['round_trip_ms']} ms")
    for name, value in depths["server"].items():
        table.add_row(name, str(value))
    for number, shard in enumerate(depths["shards"]):
        told = ", ".join(f"{value:,} {name}" for name, value in shard.items() if value)
        table.add_row(f"shard {number}", told or "empty")
    for stage, took in depths["stages_ms"].items():
        table.add_row(f"{stage} takes", f"under {took['p50']:g} ms, p95 {took['p95']:g} ms")
    told = ", ".join(f"{name} {value}" for name, value in depths["config"].items())
    table.add_row("settings", told)
    return table
