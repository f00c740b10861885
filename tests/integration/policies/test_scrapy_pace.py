"""Scrapy's pace settings on the lab: what they ask for is what the referee sees, of all workers."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from skitter.frontier import Config, Frontier, Job, Request
from skitter.lab import WebSpec
from skitter.policies.robots import Robots
from skitter.policies.scrapy_settings import from_scrapy
from tests.integration.policies.robots_site import PoliteCrawler, client
from tests.wait import wait_until_async

if TYPE_CHECKING:
    from skitter.lab.pytest_plugin import StartLab
    from tests.servers import ServerProcess

PATHS = ["/", "/p/1", "/p/2", "/p/3"]


@pytest.fixture
def server_url(valkey_server: ServerProcess) -> str:
    return valkey_server.url


async def test_delays_and_slots_are_kept_by_all_workers_together(
    server_url: str, namespace: str, lab: StartLab
) -> None:
    """Host 0 by DOWNLOAD_DELAY, host 1 by its slot, host 2 by a slot with three at a time."""
    slots = {"h1.lab": {"delay": 0.2}, "h2.lab": {"delay": 0, "concurrency": 3}}
    tuning = from_scrapy({"DOWNLOAD_DELAY": (0.1, 20), "DOWNLOAD_SLOTS": (slots, 30)})
    web = await lab(
        WebSpec(
            hosts=3,
            crawl_delay=False,
            delays_ms=(100.0, 200.0, 0.0),
            concurrency=(3,),
            latency_ms=(20, 20),
        )
    )
    job = Job(id="j", spider="s", **tuning.job)
    config = Config(lease_ms=10_000, latency_factor=0)
    async with (
        await Frontier.connect(server_url, worker="w1", namespace=namespace, config=config) as one,
        await Frontier.connect(server_url, worker="w2", namespace=namespace) as two,
        client(web.rule) as session,
    ):
        for host, policy in tuning.hosts.items():
            await one.hosts.set_policy(host, policy)
        await one.jobs.submit(job)
        await one.add([Request("j", web.url(host, path)) for host in range(3) for path in PATHS])

        async def all_done() -> bool:
            return (await one.stats.job("j")).done == 12

        ended = asyncio.Event()
        crawling = [
            asyncio.create_task(
                PoliteCrawler(one_of, Robots(one_of, agent="x"), session).crawl(
                    job.lane, ended.is_set
                )
            )
            for one_of in (one, two, one, two, one)
        ]
        await wait_until_async(all_done, timeout_s=30)
        ended.set()
        await asyncio.gather(*crawling)
    verdict = await web.verdict(coverage=False)
    assert verdict.polite, verdict.to_json()
