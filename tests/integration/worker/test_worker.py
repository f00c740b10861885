"""Workers run jobs: lanes open and close, spiders that fail hold up nobody, the rest is told."""

from __future__ import annotations

import json
import subprocess
import time
from typing import TYPE_CHECKING

import pytest

from skitter.frontier import lane_of
from skitter.lab import WebSpec
from skitter.orchestrator.finisher import Finisher
from skitter.settings import Settings
from skitter.settings.tree import ItemsSettings
from skitter.store import Store
from tests.integration.worker.crew import ROOT, SKITTER
from tests.servers import ServerProcess
from tests.stores import sqlite_url
from tests.wait import wait_until, wait_until_async

if TYPE_CHECKING:
    from skitter.lab.pytest_plugin import StartLabProcess
    from tests.integration.worker.crew import Crew

pytestmark = pytest.mark.integration

SMALL = WebSpec(hosts=3, pages=6)


def starts(crew: Crew, job: str) -> int:
    return sum("started" in item for item in crew.items(job))


async def test_two_children_crawl_a_job_to_its_end(
    crew: Crew, lab_process: StartLabProcess
) -> None:
    lab = lab_process(WebSpec(hosts=12, pages=10, latency_ms=(5, 30), delays_ms=(250,)))
    worker = crew.start("--processes", "2", lab=lab)
    await crew.said(2, state="running")
    job = await crew.crawl("j", lab)
    [_, _] = await crew.said(2, lanes=[{"lane": job.lane, "spider": "links", "state": "open"}])
    await crew.until_ended("j")
    stats, verdict = await crew.frontier.stats.job("j"), lab.verdict()
    assert (stats.pages, stats.crashes, stats.leased) == (120, 0, 0)
    assert verdict.coverage
    assert verdict.coverage.share == 1.0
    assert verdict.polite
    assert verdict.duplicates.count == 0
    # start() ran once in the cluster, and every page gave its item once.
    assert starts(crew, "j") == 1
    assert len(crew.items("j")) == 121

    async def all_told() -> bool:
        said = await crew.frontier.workers.list()
        return sum(int(one["done"]) for one in said) == 121

    await wait_until_async(all_told, what="heartbeats tell all pages")
    for said in await crew.frontier.workers.list():
        assert said["done"] > 0
        assert sum(said["latency_ms"]["fetch"]) >= said["done"] - 1
        assert all(sum(counts) for counts in said["latency_ms"].values())
        assert said["memory"] > 1 << 20
        assert said["pages_per_s"] > 0
    listed = subprocess.run(
        [SKITTER, "workers", "--json", "--set", f"redis.url={crew.server_url}",
         "--set", f"redis.namespace={crew.namespace}"],
        capture_output=True, check=True, text=True, cwd=ROOT,
    )  # fmt: skip
    assert [said["name"] for said in json.loads(listed.stdout)] == ["w0.1", "w0.2"]
    assert worker.stop() == 0
    assert await crew.frontier.workers.list() == []


@pytest.mark.parametrize("engine", ["fast", "scrapy"])
async def test_gates_of_a_spider_count_where_its_class_is_not(
    crew: Crew, lab_process: StartLabProcess, engine: str
) -> None:
    """An orchestrator on another machine has no project, and judges by what workers told."""
    lab = lab_process(SMALL)
    crew.start(lab=lab, worker__engine=engine)
    await crew.crawl("gated", lab, spider="gated")
    await crew.crawl("asked", lab, spider="gated", gates={"least_items": 19})
    await crew.crawl("free", lab)
    await crew.until_ended("gated", "asked", "free")
    settings = Settings(items=ItemsSettings(sink=(crew.sink,)))
    async with await Store.open(sqlite_url(crew.folder)) as store:
        await Finisher(crew.frontier, store, settings).tend()
    outcomes = [
        (await crew.frontier.jobs.record(job)).outcome for job in ("gated", "asked", "free")
    ]
    assert outcomes == ["quality failed", "finished", "finished"]
    [failure] = (await crew.frontier.jobs.record("gated")).failures
    assert (failure["gate"], failure["measured"]) == ("least_items", 19)


@pytest.mark.parametrize("engine", ["fast", "scrapy"])
async def test_a_spider_may_have_add_ons_of_its_own(crew: Crew, engine: str) -> None:
    crew.start(worker__engine=engine)
    await crew.submit("a", "marked")
    await crew.until_ended("a")
    assert crew.items("a") == [{"marked": True}]


async def test_jobs_of_one_spider_share_a_crawler_and_only_names_those_to_run(
    crew: Crew, lab_process: StartLabProcess
) -> None:
    lab = lab_process(SMALL)
    crew.start("--only", "links", lab=lab)
    job = await crew.crawl("a", lab)
    await crew.crawl("b", lab)
    await crew.crawl("c", lab, spider="others")
    await crew.until_ended("a", "b")
    await crew.said(lanes=[{"lane": job.lane, "spider": "links", "state": "open"}])
    assert crew.workers[0].log().count("lane opened") == 1
    assert len(crew.items("a")) == len(crew.items("b")) == 19
    assert starts(crew, "a") == starts(crew, "b") == 1
    left = await crew.frontier.stats.job("c")
    assert (left.queued, left.leased, left.pages) == (1, 0, 0)
    crew.start("--only", "others", lab=lab)
    await crew.until_ended("c")


async def test_a_lane_without_work_closes_and_opens_again(
    crew: Crew, lab_process: StartLabProcess
) -> None:
    lab = lab_process(SMALL)
    crew.start(lab=lab, worker__lane_idle_s="0.5")
    job = await crew.crawl("a", lab)
    await crew.until_ended("a")
    await crew.said(lanes=[])
    await crew.crawl("b", lab)
    await crew.said(lanes=[{"lane": job.lane, "spider": "links", "state": "open"}])
    await crew.until_ended("b")
    assert len(crew.items("b")) == 19


async def test_a_spider_that_fails_or_is_missing_holds_up_no_other(
    crew: Crew, lab_process: StartLabProcess
) -> None:
    lab = lab_process(SMALL)
    crew.start(lab=lab)
    await crew.submit("x", "broken")
    await crew.submit("y", "nowhere")
    await crew.said(missing=["nowhere"])
    error = "ValueError: this spider is broken"
    [said] = await crew.said(errors={f"broken ({lane_of('broken')})": error})
    await crew.crawl("a", lab)
    await crew.until_ended("a")
    [later] = await crew.frontier.workers.list()
    assert later["pid"] == said["pid"]
    assert (await crew.frontier.stats.job("x")).queued == 1
    assert (await crew.frontier.stats.job("y")).queued == 1


async def test_a_worker_can_keep_to_some_hosts(crew: Crew, lab_process: StartLabProcess) -> None:
    lab = lab_process(SMALL)
    crew.start("--hosts", "h0.lab", "--hosts", "h1.lab", lab=lab)
    await crew.crawl("a", lab)

    async def left() -> bool:
        stats = await crew.frontier.stats.job("a")
        return stats.pages == 12 and stats.queued == 6 and stats.leased == 0

    await wait_until_async(left, timeout_s=30, what="only h2.lab is left")
    assert lab.verdict().hosts == 2
    crew.start("--hosts", "h2.lab", lab=lab)
    await crew.until_ended("a")


async def test_a_project_is_loaded_but_for_what_fails_in_it(crew: Crew) -> None:
    project = crew.folder / "project"
    spiders = project / "shop" / "spiders"
    spiders.mkdir(parents=True)
    (project / "scrapy.cfg").write_text("[settings]\ndefault = shop.settings\n")
    (project / "shop" / "settings.py").write_text("SPIDER_MODULES = ['shop.spiders']\n")
    for folder in (project / "shop", spiders):
        (folder / "__init__.py").touch()
    (spiders / "bad.py").write_text("import no_such_module\n")
    (spiders / "good.py").write_text(
        "import scrapy\n"
        "class Good(scrapy.Spider):\n"
        "    name = 'good'\n"
        "    async def start(self):\n"
        "        print('not for the supervisor')\n"
        "        yield {'ready': 1}\n"
    )
    crew.start("--project", str(project))
    await crew.submit("a", "good")
    await crew.until_ended("a")
    assert crew.items("a") == [{"ready": 1}]
    [said] = await crew.frontier.workers.list()
    assert list(said["modules"]) == ["shop.spiders.bad"]
    assert "not for the supervisor" in crew.workers[0].log()


async def test_a_worker_waits_for_its_server(crew: Crew) -> None:
    later = ServerProcess("valkey", tcp=True)
    try:
        worker = crew.start(redis__url=later.url, redis__patience_s="0.2")
        wait_until(lambda: "waiting for the server" in worker.log(), what="it says so")
        wait_until(lambda: "still no server" in worker.log(), what="it goes on")
        assert "child started" not in worker.log()
        later.start()
        wait_until(lambda: "child started" in worker.log(), what="it goes to work")
        wait_until(lambda: "spiders loaded" in worker.log(), timeout_s=20)
        assert worker.stop() == 0
    finally:
        later.stop()


async def test_without_a_project_there_is_a_helpful_error(crew: Crew) -> None:
    done = subprocess.run(
        [SKITTER, "worker"], cwd=crew.folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "no scrapy.cfg" in done.stderr
    assert "--spiders" in done.stderr
    assert "Traceback" not in done.stderr


async def test_a_lane_that_waits_for_start_urls_stays_open(
    crew: Crew, lab_process: StartLabProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab, key = lab_process(SMALL), f"{crew.namespace}:urls"
    monkeypatch.setenv("FED_REDIS_URL", crew.server_url)
    worker = crew.start(lab=lab, worker__lane_idle_s="1")
    await crew.submit("j", "fed", args={"redis_key": key})
    wait_until(lambda: "reading start URLs" in worker.log(), timeout_s=40, what="it waits")
    await wait_until_async(lambda: nothing_left(crew, "j"), what="its start is over")
    assert await crew.frontier.jobs.holds("j"), "it might end now"
    long_after = time.monotonic() + 4
    wait_until(lambda: time.monotonic() > long_after, what="the lane was idle for long")
    await crew.frontier.shards.command("RPUSH", key, lab.url(0))
    await wait_until_async(lambda: crew.items("j"), timeout_s=20, what="the page is there")
    assert "lane closed" not in worker.log()


async def nothing_left(crew: Crew, job: str) -> bool:
    stats = await crew.frontier.stats.job(job)
    return stats.done > 0 and not stats.pending
