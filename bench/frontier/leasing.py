"""What it costs to lease and settle a request, with and without a delay between a host's own."""

from __future__ import annotations

from functools import partial

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

HOSTS = 2000


async def measure(scale: Scale, log: Log) -> Figures:
    """Batches of fifty, one call at a time, until all is done; medians of three rounds."""
    urls = scale.of(60_000, 10_000)
    free = await middle(partial(_measure, scale, urls=urls, delayed=False), rounds=3)
    log.add("lease and settle", delay_ms=0, hosts=HOSTS, **free.row("requests"))
    paced = await middle(partial(_measure, scale, urls=urls, delayed=True), rounds=3)
    log.add("lease and settle", delay_ms=1000, hosts=HOSTS, **paced.row("requests"))
    return {
        "redis_us_per_request": max(free.server_us, paced.server_us),
        "client_us_per_request": max(free.client_us, paced.client_us),
    }


async def _measure(scale: Scale, *, urls: int, delayed: bool) -> Cost:
    config = ONE_A_TURN if delayed else NO_DELAY
    clock = HandClock() if delayed else None
    with server("valkey", scale) as running:
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
