"""How workers end: killed, drained, orphaned, replaced. Nothing is lost, nothing is done twice."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from skitter.lab import WebSpec
from tests.wait import wait_until, wait_until_async

if TYPE_CHECKING:
    from skitter.lab.pytest_plugin import StartLabProcess
    from tests.integration.worker.crew import Crew

pytestmark = pytest.mark.integration

SLOW = WebSpec(hosts=12, pages=12, latency_ms=(50, 250))


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1][0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


async def under_way(crew: Crew, job: str, *, pages: int = 10) -> None:
    async def so_far() -> bool:
        stats = await crew.frontier.stats.job(job)
        return stats.pages >= pages and stats.leased > 4

    await wait_until_async(so_far, timeout_s=40, what=f"{pages} pages are done and some in hand")


async def test_a_killed_child_is_replaced_and_its_leases_are_back_at_once(
    crew: Crew, lab_process: StartLabProcess
) -> None:
    lab = lab_process(SLOW)
    # A host whose robots.txt was being read when its worker died rests for a lease: not here.
    crew.start("--processes", "2", lab=lab, politeness__robots="false")
    await crew.crawl("j", lab, robots=False)
    await crew.said(2, state="running")
    await under_way(crew, "j")
    at_work = await crew.frontier.workers.list()
    victim, *_ = [said for said in at_work if await crew.leases(said["name"]) > 0]
    os.kill(victim["pid"], signal.SIGKILL)
    killed_at = time.monotonic()

    async def nothing_left() -> bool:
        return await crew.leases(victim["name"]) == 0

    await wait_until_async(nothing_left, what="its leases are given back")
    assert time.monotonic() - killed_at < 5  # of the 30 s that a lease lasts
    await crew.said(name="w0.3", state="running")
    await crew.until_ended("j")
    verdict = lab.verdict()
    assert verdict.coverage
    assert verdict.coverage.share == 1.0
    assert verdict.polite
    assert len(crew.items("j")) == 145
    assert (await crew.frontier.stats.job("j")).crashes > 0


async def test_a_rolling_restart_loses_nothing_and_refetches_nothing_that_was_done(
    crew: Crew, lab_process: StartLabProcess
) -> None:
    lab = lab_process(SLOW)
    worker = crew.start(lab=lab)
    await crew.crawl("j", lab)
    handed_back_s = []
    for pages in (10, 50):
        await under_way(crew, "j", pages=pages)
        [said] = await crew.said(state="running")
        begun = time.monotonic()
        worker.signal(signal.SIGTERM)

        async def handed_back(name: str = said["name"]) -> bool:
            return await crew.leases(name) <= 8  # what the spider may have under way

        await wait_until_async(handed_back, what="prefetched work is handed back")
        handed_back_s.append(time.monotonic() - begun)
        assert worker.process.wait(25) == 0
        assert await crew.leases(said["name"]) == 0
        worker = crew.start(lab=lab)
    assert min(handed_back_s) < 1.0
    await crew.until_ended("j")
    verdict, stats = lab.verdict(), await crew.frontier.stats.job("j")
    assert verdict.coverage
    assert verdict.coverage.share == 1.0
    assert verdict.duplicates.count == 0
    assert verdict.polite
    assert (stats.pages, stats.crashes) == (144, 0)
    assert len(crew.items("j")) == 145


async def test_what_is_under_way_longer_than_the_grace_is_handed_back(
    crew: Crew, lab_process: StartLabProcess
) -> None:
    lab = lab_process(WebSpec(hosts=1, pages=1))
    worker = crew.start(lab=lab, worker__grace_s="6")
    await crew.submit("j", args={"seeds": lab.url(0, "/slow/60000")})

    async def asked() -> bool:
        return any(said["in_flight"] for said in await crew.frontier.workers.list())

    await wait_until_async(asked, timeout_s=30, what="the page is asked for")
    begun = time.monotonic()
    assert worker.stop() == 0
    assert time.monotonic() - begun < 20
    stats = await crew.frontier.stats.job("j")
    assert (stats.queued, stats.leased, stats.crashes) == (1, 0, 0)


async def test_a_second_signal_ends_it_at_once(crew: Crew, lab_process: StartLabProcess) -> None:
    lab = lab_process(WebSpec(hosts=1, pages=1))
    worker = crew.start(lab=lab, worker__grace_s="60")
    await crew.submit("j", args={"seeds": lab.url(0, "/slow/60000")})
    await crew.said(in_flight=1)
    worker.signal(signal.SIGINT)
    wait_until(lambda: worker.log().count("draining") == 2, what="it drains")
    worker.signal(signal.SIGINT)
    assert worker.process.wait(20) == 1  # of the 60 s that it may take
    assert (await crew.frontier.stats.job("j")).leased == 0


async def test_children_end_with_their_parent(crew: Crew) -> None:
    worker = crew.start("--processes", "2", worker__grace_s="2")
    pids = [said["pid"] for said in await crew.said(2, state="running")]
    worker.signal(signal.SIGKILL)
    wait_until(lambda: not any(map(alive, pids)), what="the children are gone")
    assert await crew.frontier.workers.list() == []


async def test_a_child_whose_loop_hangs_is_replaced_and_its_work_goes_on(
    crew: Crew, lab_process: StartLabProcess, tmp_path: Path
) -> None:
    lab = lab_process(WebSpec(hosts=2, pages=4))
    omen = tmp_path / "omen"
    crew.start(lab=lab, frontier__lease_s="2", frontier__renew_margin_s="0.5")
    await crew.submit("j", "hangs", args={"seeds": lab.url(0), "omen": str(omen)})
    await wait_until_async(omen.exists, timeout_s=40, what="its loop stands still")
    await wait_until_async(
        lambda: "child hangs: killed" in crew.workers[0].log(), timeout_s=30, what="it is killed"
    )
    await crew.until_ended("j")
    verdict = lab.verdict()
    assert verdict.coverage
    assert verdict.coverage.share == 1.0


async def test_a_child_over_its_memory_is_replaced(crew: Crew) -> None:
    crew.start(worker__memory="1MiB")
    wait_until(lambda: crew.workers[0].log().count("child started") >= 3, timeout_s=30)
    assert "child over its memory" in crew.workers[0].log()
    assert "killed" not in crew.workers[0].log()
