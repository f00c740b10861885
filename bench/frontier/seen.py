"""Memory of a seen URL, in one job with 1e5, 1e6 and 1e7 of them.

The fingerprints go in by the frontier's own dedup code (include/seen.lua), a hundred a call as in
an add, with the queues left out: an add and a settlement of each would take an hour, and what they
leave behind is the same. That it is the same is measured: 1e5 URLs are also added, leased and
settled through the client, at few hosts, so that nothing but the seen URLs is left.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from bench.frontier.crawl import NO_DELAY, add_all, drain, open_job
from bench.frontier.meter import Figures, Log, Meter, Scale, server
from bench.frontier.web import Web
from skitter.frontier import scripts

if TYPE_CHECKING:
    from tests.servers.programs import Kind

BATCH, PIPELINED = 100, 10
FILL = """
local scope, added = scope_of('1'), 0
make_room(scope, #ARGV)
for _, mark in ipairs(ARGV) do
  added = added + redis.call('SADD', bucket_key(scope, remainder(mark, 2 * scope.size)), mark)
end
grow(scope, added)
return added
"""


async def measure(scale: Scale, log: Log) -> Figures:
    """The worst of the sizes, on both servers."""
    worst: dict[str, float] = {}
    for kind in ("valkey", "redis"):
        sizes = [100_000, scale.of(1_000_000, 300_000)]
        if not scale.quick:
            sizes.append(10_000_000)
        worst[kind] = max(_fill(scale, log, kind, sizes))
    await _through_client(scale, log)
    return {
        "bytes_per_seen_url": worst["valkey"],
        "bytes_per_seen_url_redis7": worst["redis"],
    }


def _fill(scale: Scale, log: Log, kind: Kind, sizes: list[int]) -> list[float]:
    rng, found, filled = random.Random(3), [], 0
    with server(kind, scale) as running:
        meter = Meter(running)
        sha = meter.client.script_load(
            "local P = KEYS[1]\n" + scripts._read("include/seen.lua") + FILL
        )
        before = meter.memory_bytes()
        for size in sizes:
            while filled < size:
                filled += _send(meter, sha, rng, most=size - filled)
            found.append((meter.memory_bytes() - before) / filled)
            log.add("memory of a seen URL", server=kind, seen=filled, bytes=found[-1])
    return found


def _send(meter: Meter, sha: str, rng: random.Random, *, most: int) -> int:
    pipeline = meter.client.pipeline(transaction=False)
    for first in range(0, min(most, BATCH * PIPELINED), BATCH):
        marks = [rng.getrandbits(64) - (1 << 63) for _ in range(min(BATCH, most - first))]
        pipeline.evalsha(sha, 1, "{seen0}", *marks)
    return sum(pipeline.execute())


async def _through_client(scale: Scale, log: Log) -> None:
    urls = scale.of(100_000, 10_000)
    with server("valkey", scale) as running:
        meter = Meter(running)
        async with open_job(running.url, name="seen", config=NO_DELAY) as (frontier, job):
            web = Web("seen", 10)
            await add_all(frontier, web.batches(500, size=500), meter=meter)
            await drain(frontier, job, meter=meter, most=500)
            before = meter.memory_bytes()
            await add_all(frontier, web.batches(urls, size=500), meter=meter)
            await drain(frontier, job, meter=meter, most=urls)
            used = (meter.memory_bytes() - before) / urls
    log.add("memory of a seen URL", server="valkey", seen=urls, through="client", bytes=used)
