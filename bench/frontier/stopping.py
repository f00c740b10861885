"""Stopping a job with a million queued requests: at once, and its memory comes back by and by.

While the caretaker throws the queues away, the longest call of any script is taken from the
server's slow log: so long may another client have to wait. A long tick delays reaping.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from bench.frontier.crawl import NO_DELAY, add_all, open_job, warm_up
from bench.frontier.meter import Figures, Log, Meter, Scale, server
from bench.frontier.web import Web
from skitter.frontier import Caretaker

if TYPE_CHECKING:
    from skitter.frontier import Frontier, Job


async def measure(scale: Scale, log: Log) -> Figures:
    """Once with long queues, once with one request at each of a million hosts."""
    urls = scale.of(1_000_000, 50_000)
    slowest: dict[str, float] = {}
    for hosts in (urls // 100, urls):
        found = await _measure(scale, urls=urls, hosts=hosts)
        log.add("stop", queued=urls, hosts=hosts, **found)
        slowest = {name: max(value, slowest.get(name, 0.0)) for name, value in found.items()}
    return {
        "stop_1e6_ms": slowest["stop_ms"],
        "sweep_longest_call_ms": slowest["longest_call_ms"],
        "sweep_longest_tick_s": slowest["longest_tick_s"],
        "sweep_left_share": slowest["left_share"],
    }


async def _measure(scale: Scale, *, urls: int, hosts: int) -> Figures:
    with server("valkey", scale) as running:
        meter = Meter(running)
        async with open_job(running.url, name="stop", config=NO_DELAY) as (frontier, job):
            empty = await warm_up(running.url, meter=meter)
            web = Web("stop", hosts, spread="each")
            await add_all(frontier, web.batches(urls, size=500), meter=meter)
            full = meter.memory_bytes()
            meter.client.config_set("slowlog-log-slower-than", 500)
            meter.client.config_set("slowlog-max-len", 100_000)
            started_s = time.perf_counter()
            await frontier.jobs.stop(job.id)
            stop_ms = (time.perf_counter() - started_s) * 1000
            figures = await sweep(frontier, job)
            longest = [entry["duration"] for entry in meter.client.slowlog_get(100_000)]
            left = (meter.memory_bytes() - empty) / (full - empty)
    return figures | {
        "stop_ms": stop_ms,
        "longest_call_ms": max(longest, default=0) / 1000,
        "left_share": left,
    }


async def sweep(frontier: Frontier, job: Job) -> Figures:
    """Tend until nothing is queued and nothing waits to be swept, without pauses."""
    caretaker = Caretaker(frontier)
    prefix = frontier.shards.prefixes[0]
    started_s, longest_s, ticks = time.perf_counter(), 0.0, 0
    while True:
        tick_s = time.perf_counter()
        await caretaker.tend()
        longest_s, ticks = max(longest_s, time.perf_counter() - tick_s), ticks + 1
        if not await frontier.shards.command("SCARD", f"{prefix}sweep"):
            break
        await asyncio.sleep(0)
    left = await frontier.stats.job(job.id)
    assert left.pending == 0, left
    return {
        "sweep_s": time.perf_counter() - started_s,
        "longest_tick_s": longest_s,
        "ticks": float(ticks),
    }
