"""What a million hosts do to an add and to a lease.

Two data sets on one server, of a thousand and of a million hosts with one request each, are leased
from in turns, fifty hosts a call; every settled request has a child at its host, so both stay as
they are. The host's delay lets one request go a turn, and the clock is moved by hand.
"""

from __future__ import annotations

import statistics
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bench.frontier.crawl import LEASES, ONE_A_TURN, HandClock, add_all, open_job, settled
from bench.frontier.meter import Figures, Log, Meter, Scale, server
from bench.frontier.web import Spread, Web
from skitter.frontier import Request

if TYPE_CHECKING:
    from skitter.frontier import Frontier, Job, Lease, Settlement

ROUNDS, CALLS, BATCH = 9, 10, 500
SPREADS: tuple[Spread, ...] = ("each", "even", "zipf")


@dataclass
class DataSet:
    """Hosts in a namespace of their own, and what fifty leases cost there, round by round."""

    frontier: Frontier
    job: Job
    clock: HandClock
    hosts: int
    costs_us: list[float] = field(default_factory=list)

    async def round(self, meter: Meter, number: int) -> None:
        """Lease ten times fifty, which is what is measured; then settle, and let the delay pass."""
        leases: list[Lease] = []
        before_s = meter.cpu_s()
        for _ in range(CALLS):
            leases += (await self.frontier.lease([self.job.lane], count=LEASES)).leases
        self.costs_us.append((meter.cpu_s() - before_s) / CALLS * 1e6)
        assert len(leases) == CALLS * LEASES, f"{len(leases)} leases at {self.hosts} hosts"
        await self.frontier.settle([_with_child(lease, number) for lease in leases])
        self.clock.ms += 2000


async def measure(scale: Scale, log: Log) -> Figures:
    """Adds to as many hosts, then leases at both sizes."""
    many, clock = scale.of(1_000_000, 50_000), HandClock()
    figures: Figures = {}
    with server("redis", scale) as running:
        meter = Meter(running)
        async with AsyncExitStack() as stack:
            sets = []
            for name, hosts in (("few", 1000), ("many", many)):
                opened = open_job(running.url, name=name, config=ONE_A_TURN, clock=clock)
                frontier, job = await stack.enter_async_context(opened)
                web = Web(name, hosts, spread="each")
                await add_all(frontier, web.batches(hosts, size=BATCH), meter=meter)
                sets.append(DataSet(frontier, job, clock, hosts))
            figures |= await _lease(sets, log, meter)
        figures |= await _add(scale, log)
    return figures


async def _lease(sets: list[DataSet], log: Log, meter: Meter) -> Figures:
    for number in range(ROUNDS):
        for data in sets:
            await data.round(meter, number)
    few, many = (statistics.median(data.costs_us) for data in sets)
    for data in sets:
        log.add("lease of 50", hosts=data.hosts, server_us=statistics.median(data.costs_us),
                lowest=min(data.costs_us), highest=max(data.costs_us))  # fmt: skip
    return {"lease_cost_1e6_vs_1e3": many / few}


async def _add(scale: Scale, log: Log) -> Figures:
    """First one URL to each host, then more to hosts that are there already."""
    hosts, costs = scale.of(1_000_000, 50_000), {}
    with server("redis", scale) as running:
        meter = Meter(running)
        async with open_job(running.url, name="add", config=ONE_A_TURN) as (frontier, _):
            web = Web("add", hosts)
            for spread in SPREADS:
                web.spread = spread
                urls = hosts if spread == "each" else hosts // 4
                cost = await add_all(frontier, web.batches(urls, size=BATCH), meter=meter)
                log.add("add", hosts=hosts, spread=spread, batch=BATCH, **cost.row("urls"))
                costs[spread] = cost.server_us
            web.known = 0.45
            cost = await add_all(frontier, web.batches(hosts // 4, size=BATCH), meter=meter)
            log.add("add", hosts=hosts, spread="zipf", known=0.45, batch=BATCH, **cost.row("urls"))
    return {
        "redis_us_per_add_1e6_hosts": max(costs["each"], costs["zipf"]),
        "redis_us_per_add_1e6_even_hosts": costs["even"],
    }


def _with_child(lease: Lease, number: int) -> Settlement:
    child = Request(lease.request.job, f"https://{lease.host}/round-{number}/page.html")
    return settled(lease, children=[child])
