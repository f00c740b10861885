"""Memory of hosts, and of what is queued with them.

Every host gets one request: that is an active host, counted with all that it brought: its record,
queue and place in the index, the request, and the seen URL. Fetched and settled, what is left is an
idle host; its seen URL, which has a figure of its own, is forgotten with its job before idle hosts
are counted. A pending URL is counted in the same way, less its length.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.frontier.crawl import ONE_A_TURN, HandClock, add_all, drain, open_job, warm_up
from bench.frontier.meter import Figures, Log, Meter, Scale, server
from bench.frontier.stopping import sweep
from bench.frontier.web import Web

if TYPE_CHECKING:
    from tests.servers.programs import Kind

KINDS: tuple[Kind, ...] = ("valkey", "redis")


async def measure(scale: Scale, log: Log) -> Figures:
    """On both servers, whose encodings differ."""
    figures: Figures = {}
    for kind in KINDS:
        found = await _pending(scale, log, kind) | await _hosts(scale, log, kind)
        ending = "_redis7" if kind == "redis" else ""
        figures |= {name + ending: value for name, value in found.items()}
    return figures


async def _pending(scale: Scale, log: Log, kind: Kind) -> Figures:
    hosts, each = scale.of(1000, 100), 200
    with server(kind, scale) as running:
        meter = Meter(running)
        async with open_job(running.url, name="pending", config=ONE_A_TURN) as (frontier, _):
            before = await warm_up(running.url, meter=meter)
            web = Web("pending", hosts, spread="each")
            lengths = 0
            for batch in web.batches(hosts * each, size=500):
                lengths += sum(len(request.url) for request in batch)
                await frontier.add(batch)
            used = meter.memory_bytes() - before
    over = (used - lengths) / (hosts * each)
    log.add("memory of a pending URL", server=kind, hosts=hosts, each=each,
            length=lengths / (hosts * each), over_length=over)  # fmt: skip
    return {"bytes_per_pending_url_over_length": over}


async def _hosts(scale: Scale, log: Log, kind: Kind) -> Figures:
    hosts, clock = scale.of(1_000_000, 50_000), HandClock()
    with server(kind, scale) as running:
        meter = Meter(running)
        job = open_job(running.url, name="hosts", config=ONE_A_TURN, clock=clock)
        async with job as (frontier, record):
            before = await warm_up(running.url, meter=meter)
            web = Web("hosts", hosts, spread="each")
            await add_all(frontier, web.batches(hosts, size=500), meter=meter)
            active = (meter.memory_bytes() - before) / hosts
            log.add("memory of an active host", server=kind, hosts=hosts, bytes=active)
            cost = await drain(frontier, record, meter=meter, most=hosts, step=clock)
            assert cost.units == hosts, f"{hosts - cost.units} hosts were not asked"
            log.add("lease and settle", server=kind, hosts=hosts, delay_ms=1000,
                    **cost.row("requests"))  # fmt: skip
            with_seen = (meter.memory_bytes() - before) / hosts
            await frontier.jobs.stop(record.id)
            await sweep(frontier, record)
            idle = (meter.memory_bytes() - before) / hosts
            log.add("memory of an idle host", server=kind, hosts=hosts, bytes=idle,
                    with_its_seen_url=with_seen)  # fmt: skip
    return {"bytes_per_active_host": active, "bytes_per_idle_host": idle}
