"""`skitter worker --autoscale` on the lab: out for many hosts, not for one, and to nothing."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from bench.autoscaler.lab import Scaled, pages_of, queue
from skitter.lab import WebSpec
from tests.integration.worker.crew import Crew
from tests.wait import wait_until_async

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from skitter.lab.pytest_plugin import StartLabProcess

pytestmark = [pytest.mark.integration, pytest.mark.timeout(400)]

QUICK = {
    "autoscale__every_s": "0.5",
    "autoscale__up_after_s": "1",
    "autoscale__up_rest_s": "4",
    "autoscale__drain_s": "2",
    "autoscale__down_after_s": "6",
    "autoscale__down_rest_s": "8",
    "autoscale__idle_s": "8",
}


@pytest.fixture
async def crew(server_url: str, namespace: str, tmp_path: Path) -> AsyncIterator[Crew]:
    async with Crew(server_url, namespace, tmp_path) as crew:
        yield crew


async def test_a_burst_on_many_hosts_scales_out_and_idleness_scales_to_zero(
    crew: Crew, lab_process: StartLabProcess
) -> None:
    lab = lab_process(WebSpec(hosts=400, pages=12, delays_ms=(200,), latency_ms=(50, 150), links=3))
    scaled = Scaled(crew, lab, bounds="0-3", politeness__delay_s="0.2", **QUICK)
    queued = await queue(crew.frontier, "burst", pages_of(lab, range(400)))
    assert queued == 4800
    await crew.until_ended("burst", timeout_s=240)
    await scaled.until(0, timeout_s=90)
    assert max(scaled.counts) == 3
    assert scaled.turns <= 2
    assert lab.verdict(coverage=False).polite
    assert (await crew.frontier.stats.job("burst")).pages == 4800
    await _nobody(crew)
    assert scaled.worker.stop() == 0


async def test_the_long_queue_of_one_slow_host_does_not_scale_out(
    crew: Crew, lab_process: StartLabProcess
) -> None:
    lab = lab_process(WebSpec(hosts=1, pages=500, delays_ms=(500,), links=1))
    scaled = Scaled(crew, lab, bounds="0-3", politeness__delay_s="0.5", **QUICK)
    assert await queue(crew.frontier, "slow", pages_of(lab, range(1))) == 500
    await scaled.until(1, timeout_s=30)
    begun = time.monotonic()

    async def watched() -> bool:
        pages = (await crew.frontier.stats.job("slow")).pages
        return pages > 20 and time.monotonic() - begun > 20

    await wait_until_async(watched, timeout_s=90, what="twenty seconds and twenty pages")
    assert max(scaled.counts) == 1
    assert (await crew.frontier.stats.job("slow")).queued > 300
    await crew.frontier.jobs.stop("slow")
    await scaled.until(0, timeout_s=60)
    assert scaled.counts == [0, 1, 0]


async def _nobody(crew: Crew) -> None:
    async def gone() -> bool:
        return await crew.frontier.workers.list() == []

    await wait_until_async(gone, timeout_s=30, what="no worker is left")
