"""What it costs to lease and settle a request, with and without a delay between a host's own."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from bench.frontier.crawl import (
    NO_DELAY,
    ONE_A_TURN,
    Cost,
    HandClock,
    add_all,
    drain,
    middle,
    open_job,
)
from bench.frontier.meter import Figures, Log, Meter, Scale, server
from bench.frontier.web import Web

if TYPE_CHECKING:
    from tests.servers.programs import Kind

HOSTS = 2000
KINDS: tuple[Kind, ...] = ("redis", "valkey")


async def measure(scale: Scale, log: Log) -> Figures:
    """Batches of fifty, one call at a time, until all is done; medians of three rounds."""
    figures: Figures = {}
    for kind in KINDS:
        costs = []
        for delayed in (False, True):
            cost = await middle(partial(_measure, scale, kind=kind, delayed=delayed), rounds=3)
            log.add("lease and settle", server=kind, delay_ms=1000 * delayed, hosts=HOSTS,
                    **cost.row("requests"))  # fmt: skip
            costs.append(cost)
        figures[f"{kind}_us_per_request"] = max(cost.server_us for cost in costs)
        figures.setdefault("client_us_per_request", max(cost.client_us for cost in costs))
    return figures


async def _measure(scale: Scale, *, kind: Kind, delayed: bool) -> Cost:
    urls = scale.of(60_000, 10_000)
    config = ONE_A_TURN if delayed else NO_DELAY
    clock = HandClock() if delayed else None
    with server(kind, scale) as running:
        meter = Meter(running)
        async with open_job(running.url, name="lease", config=config, clock=clock) as (
            frontier,
            job,
        ):
            web = Web("lease", HOSTS)
            await add_all(frontier, web.batches(urls, size=500), meter=meter)
            cost = await drain(frontier, job, meter=meter, most=urls, step=clock)
            assert cost.units == urls, f"{urls - cost.units} requests were not handed out"
            return cost
