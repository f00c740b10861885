"""A process that leases and settles at a fixed rate for some seconds, and says what it did."""

from __future__ import annotations

import asyncio
import json
import sys
import time

import uvloop

from bench.frontier.crawl import LEASES, settled
from skitter.frontier import Frontier, lane_of

LOOPS = 2


class Pace:
    """How many may be done by now, over all loops."""

    def __init__(self, rate: float, seconds: float) -> None:
        self._rate = rate
        self._seconds = seconds
        self._started_s = time.perf_counter()
        self.done = 0

    @property
    def passed_s(self) -> float:
        return time.perf_counter() - self._started_s

    async def more(self) -> bool:
        """Wait until more is due; False when the time is over."""
        await asyncio.sleep(max(0.0, self.done / self._rate - self.passed_s))
        return self.passed_s < self._seconds


async def loop(frontier: Frontier, lane: str, pace: Pace) -> None:
    while await pace.more():
        found = await frontier.lease([lane], count=LEASES)
        pace.done += sum(await frontier.settle([settled(lease) for lease in found.leases]))


async def work(url: str, *, name: str, rate: float, seconds: float) -> None:
    """Two loops: one leases while the other settles, as a worker with a prefetch does."""
    async with await Frontier.connect(url, worker="beside-worker", namespace=name) as frontier:
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        pace, cpu_s = Pace(rate, seconds), time.process_time()
        await asyncio.gather(*(loop(frontier, lane_of(name), pace) for _ in range(LOOPS)))
        used = (time.process_time() - cpu_s) / pace.passed_s
        print(json.dumps({"settled_per_s": pace.done / pace.passed_s, "worker_cpu": used}))


if __name__ == "__main__":
    server_url, namespace, per_s, span_s = sys.argv[1:]
    uvloop.run(work(server_url, name=namespace, rate=float(per_s), seconds=float(span_s)))
