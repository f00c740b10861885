"""What it costs to add a URL, by how many hosts there are and how many URLs are known already."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from bench.frontier.crawl import NO_DELAY, Cost, add_all, middle, open_job
from bench.frontier.meter import Figures, Log, Meter, Scale, server
from bench.frontier.web import Spread, Web

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.servers.programs import Kind

SPREADS: tuple[Spread, ...] = ("even", "zipf")


@dataclass(frozen=True)
class Case:
    """Some URLs, added to an empty frontier, so that every first visit to a host is in it."""

    hosts: int
    urls: int
    spread: Spread
    known: float = 0.0
    batch: int = 500
    rounds: int = 1
    kind: Kind = "redis"


async def measure(scale: Scale, log: Log) -> Figures:
    """The figures are those of the larger size, all new, hosts by Zipf's law; even ones beside."""
    reported: dict[tuple[Kind, Spread], Cost] = {}
    for case in _cases(scale):
        cost = await middle(partial(_measure, scale, case), rounds=case.rounds)
        log.add("add", server=case.kind, hosts=case.hosts, spread=case.spread, known=case.known,
                batch=case.batch, **cost.row("urls"))  # fmt: skip
        if case.rounds > 1:
            reported[case.kind, case.spread] = cost
    return {
        "redis_us_per_add": reported["redis", "zipf"].server_us,
        "redis_us_per_add_even_hosts": reported["redis", "even"].server_us,
        "valkey_us_per_add": reported["valkey", "zipf"].server_us,
        "valkey_us_per_add_even_hosts": reported["valkey", "even"].server_us,
        "client_us_per_add": max(cost.client_us for cost in reported.values()),
    }


def _cases(scale: Scale) -> Iterator[Case]:
    few, many = scale.of(200_000, 20_000), scale.of(500_000, 50_000)
    for spread in SPREADS:
        yield Case(1000, few, spread)
        yield Case(1000, few, spread, known=0.45)
        yield Case(many // 5, many, spread, rounds=3)
        yield Case(many // 5, many, spread, rounds=3, kind="valkey")
        yield Case(many // 5, many, spread, known=0.45)
    for batch in (100, 200):
        yield Case(1000, few, "zipf", batch=batch)


async def _measure(scale: Scale, case: Case) -> Cost:
    web = Web("add", case.hosts, spread=case.spread, known=case.known)
    with server(case.kind, scale) as running:
        meter = Meter(running)
        async with open_job(running.url, name="add", config=NO_DELAY) as (frontier, _):
            return await add_all(frontier, web.batches(case.urls, size=case.batch), meter=meter)
