"""The steps that measurements share: a job, requests added to it, requests leased and settled."""

from __future__ import annotations

import time
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from skitter.frontier import Config, Fetch, Frontier, Job, Lease, Request, Settlement

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterable

    from bench.frontier.meter import Meter

NO_DELAY = Config(delay_ms=0)
# One request a turn, so that a batch of fifty is fifty hosts, the dearest kind.
ONE_A_TURN = Config(delay_ms=1000, turn_ms=1000)
LEASES = 50
FETCH = Fetch(ago_ms=5, latency_ms=40, status=200)


@dataclass
class HandClock:
    """Server time in ms as the measurement wants it: delays pass without waiting."""

    ms: float = 1_800_000_000_000

    def __call__(self) -> float:
        return self.ms


@dataclass
class Cost:
    """CPU and wall time of some work, in all."""

    units: int = 0
    server_s: float = 0.0
    client_s: float = 0.0
    wall_s: float = 0.0

    def row(self, unit: str) -> dict[str, Any]:
        return {
            unit: self.units,
            "server_us": self.server_us,
            "client_us": self.client_us,
            "per_s": self.units / self.wall_s,
        }

    @property
    def server_us(self) -> float:
        return self.server_s / self.units * 1e6

    @property
    def client_us(self) -> float:
        return self.client_s / self.units * 1e6


async def middle(measure: Callable[[], Awaitable[Cost]], *, rounds: int) -> Cost:
    """The median of some rounds by the server's CPU: other work on the machine comes in bursts."""
    costs = [await measure() for _ in range(rounds)]
    return sorted(costs, key=lambda cost: cost.server_us)[rounds // 2]


@asynccontextmanager
async def open_job(url: str, *, name: str, config: Config, clock: Any = None) -> AsyncIterator[Any]:
    """A frontier in a namespace of its own, with one job of that name."""
    async with await Frontier.connect(
        url, worker=f"{name}-bench", namespace=name, config=config, clock=clock, timeout_s=60
    ) as frontier:
        job = Job(id=name, spider=name, robots=False)
        await frontier.jobs.submit(job)
        yield frontier, job


async def add_all(frontier: Frontier, batches: Iterable[list[Request]], *, meter: Meter) -> Cost:
    """Add batches one after the other; making their requests is not counted."""
    cost = Cost()
    before_s = meter.cpu_s()
    for batch in batches:
        cpu_s, wall_s = time.process_time(), time.perf_counter()
        added = await frontier.add(batch)
        cost.client_s += time.process_time() - cpu_s
        cost.wall_s += time.perf_counter() - wall_s
        cost.units += len(batch)
        assert not added.refused, added.refused
    cost.server_s = meter.cpu_s() - before_s
    return cost


def settled(lease: Lease, *, children: list[Request] | None = None) -> Settlement:
    """A page as a spider settles it."""
    return Settlement(
        lease, fetch=FETCH, page=True, children=children or [], figures={"bytes": 15_000}
    )


async def drain(
    frontier: Frontier, job: Job, *, meter: Meter, most: int, step: HandClock | None = None
) -> Cost:
    """Lease and settle in batches until nothing comes, or `most` are done; the clock goes on."""
    cost = Cost()
    before_s, cpu_s, wall_s = meter.cpu_s(), time.process_time(), time.perf_counter()
    empty = 0
    while cost.units < most and empty < 20:
        found = await frontier.lease([job.lane], count=LEASES)
        if found.leases:
            await frontier.settle([settled(lease) for lease in found.leases])
        empty = 0 if found.leases else empty + 1
        cost.units += len(found.leases)
        if step:
            step.ms += 100
    cost.client_s = time.process_time() - cpu_s
    cost.wall_s = time.perf_counter() - wall_s
    cost.server_s = meter.cpu_s() - before_s
    return cost


async def warm_up(url: str, *, meter: Meter) -> int:
    """Memory once scripts are loaded and their interpreter has grown to its working size."""
    async with open_job(url, name="warm-up", config=NO_DELAY) as (frontier, job):
        requests = [Request(job.id, f"https://host-{n}.example.com/") for n in range(4000)]
        await add_all(frontier, [requests[n : n + 500] for n in range(0, 4000, 500)], meter=meter)
        await drain(frontier, job, meter=meter, most=4000)
        return meter.memory_bytes()
