"""Whole crawls on the lab, judged by its referee."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import TYPE_CHECKING

import aiohttp

from skitter.intake import Bounds
from skitter.lab import Fault, WebSpec
from skitter.resolve import Resolver, parse_rules
from tests.integration.intake.conftest import LANE
from tests.integration.intake.engine import Engine
from tests.wait import wait_until_async

if TYPE_CHECKING:
    from skitter.lab.pytest_plugin import StartLab
    from skitter.lab.run import LabServer
    from tests.integration.intake.conftest import Workshop


async def crawl(
    shop: Workshop, web: LabServer, *, workers: int, bounds: Bounds | None = None
) -> list[Engine]:
    """Crawl everything with so many intakes; returns when the job has ended."""
    async with AsyncExitStack() as stack:
        engines, running = [], []
        for n in range(workers):
            connector = aiohttp.TCPConnector(
                resolver=Resolver(parse_rules([web.rule])), limit=0, force_close=True
            )
            session = await stack.enter_async_context(aiohttp.ClientSession(connector=connector))
            session._retry_connection = False
            intake = await shop.open(f"w{n}", bounds=bounds)
            engines.append(Engine(intake, LANE, session=session))
            running.append(asyncio.create_task(engines[-1].run()))
        await shop.job()
        await shop.add(web.url(0))
        await shop.frontier.jobs.release_hold("j")
        await shop.tend()

        async def ended() -> bool:
            assert not any(task.done() for task in running)
            return (await shop.frontier.jobs.record("j")).state == "ended"

        await wait_until_async(ended, timeout_s=60, what="the job ends")
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
    return engines


async def test_two_intakes_keep_the_pace_of_batches_and_lose_nothing(
    shop: Workshop, lab: StartLab
) -> None:
    shop.config = replace(shop.config, delay_ms=60, turn_ms=300, latency_factor=0)
    web = await lab(WebSpec(hosts=8, pages=40, delays_ms=(60,), robots=False))
    bounds = Bounds(in_hand=10, prefetch=10)  # two batches, so that both have to work
    engines = await crawl(shop, web, workers=2, bounds=bounds)
    verdict = await web.verdict()
    assert verdict.polite, verdict.table()
    assert verdict.coverage is not None
    assert verdict.coverage.share == 1.0
    assert verdict.duplicates.count == 0
    assert len(shop.sink.items) == (await shop.stats()).done
    assert all(engine.sent for engine in engines)
    await shop.counts_are_right()


async def test_hosts_without_a_delay_are_asked_no_more_at_once_than_they_allow(
    shop: Workshop, lab: StartLab
) -> None:
    shop.config = replace(shop.config, concurrency=3, latency_factor=0)
    web = await lab(WebSpec(hosts=10, pages=20, concurrency=(3,), latency_ms=(1, 10), robots=False))
    await crawl(shop, web, workers=2)
    verdict = await web.verdict()
    assert verdict.polite, verdict.table()
    assert verdict.coverage is not None
    assert verdict.coverage.share == 1.0
    assert verdict.duplicates.count == 0
    await shop.counts_are_right()


async def test_faults_slow_a_host_down_and_nothing_is_lost(shop: Workshop, lab: StartLab) -> None:
    shop.config = replace(
        shop.config, delay_ms=30, turn_ms=150, latency_factor=0, max_delay_ms=100,
        max_retry_after_ms=100,
    )  # fmt: skip
    faults = (Fault("503", 0.1), Fault("reset", 0.1), Fault("500", 0.1))
    web = await lab(WebSpec(hosts=6, pages=10, delays_ms=(30,), faults=faults, robots=False))
    await crawl(shop, web, workers=2)
    verdict = await web.verdict()
    assert verdict.polite, verdict.table()
    assert verdict.coverage is not None
    assert verdict.coverage.share == 1.0
    await shop.counts_are_right()
