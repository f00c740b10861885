"""Adding at full speed in one process, while another leases and settles at a fixed rate."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from typing import TYPE_CHECKING

from bench.frontier.crawl import NO_DELAY, add_all, open_job
from bench.frontier.meter import Figures, Log, Meter, Scale, server
from bench.frontier.web import Web

if TYPE_CHECKING:
    from skitter.frontier import Frontier, Request

RATE = 3500
BATCH = 500
ADDING_AT_ONCE = 3


async def measure(scale: Scale, log: Log) -> Figures:
    """Both rates over the same seconds, by the clock on the wall."""
    seconds = scale.of(20, 5)
    with server("redis", scale) as running:
        meter = Meter(running)
        async with open_job(running.url, name="beside", config=NO_DELAY) as (frontier, _):
            web = Web("beside", 10_000, spread="zipf")
            await add_all(frontier, web.batches(50_000, size=BATCH), meter=meter)
            batches = list(web.batches(scale.of(1_200_000, 300_000), size=BATCH))
            worker = await _start(running.url, seconds)
            cpu_s = meter.cpu_s()
            added_per_s, client_s = await _add(frontier, batches, seconds=seconds)
            server_s = meter.cpu_s() - cpu_s
            said, _ = await worker.communicate()
    other = json.loads(said)
    log.add("add beside lease and settle", seconds=seconds, added_per_s=added_per_s,
            adding_cpu=client_s / seconds, server_cpu=server_s / seconds, **other)  # fmt: skip
    return {"add_urls_per_s": added_per_s, "lease_settle_per_s": other["settled_per_s"]}


async def _start(url: str, seconds: int) -> asyncio.subprocess.Process:
    worker = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bench.frontier.worker", url, "beside", str(RATE), str(seconds),
        stdout=asyncio.subprocess.PIPE, stdin=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert worker.stdout
    assert await worker.stdout.readline() == b"ready\n"
    assert worker.stdin
    worker.stdin.write(b"go\n")
    return worker


async def _add(
    frontier: Frontier, batches: list[list[Request]], *, seconds: float
) -> tuple[float, float]:
    """A few batches under way: while the server works on one, the next is made ready."""
    started_s, cpu_s, added = time.perf_counter(), time.process_time(), 0

    async def one() -> None:
        nonlocal added
        while batches and time.perf_counter() - started_s < seconds:
            batch = batches.pop()
            await frontier.add(batch)
            added += len(batch)

    await asyncio.gather(*(one() for _ in range(ADDING_AT_ONCE)))
    wall_s = time.perf_counter() - started_s
    return added / wall_s, time.process_time() - cpu_s
