"""Each rule that comes with it is made to fire and to clear on the lab, and a webhook hears it."""

from __future__ import annotations

import os
import signal
import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest
from aiohttp import web

from skitter.frontier import Job, Request, Settlement
from skitter.jobs.submission import Submission
from skitter.lab import WebSpec
from skitter.lab.spec import Fault
from skitter.orchestrator.alert_rules import load_rules
from skitter.orchestrator.alerter import Alerter
from skitter.orchestrator.finisher import Finisher
from skitter.orchestrator.webhook import sign
from skitter.services import open_services
from tests.integration.worker.crew import Crew
from tests.wait import wait_until_async

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import Path

    from skitter.frontier.pressure import Waiting
    from skitter.lab import LabProcess
    from skitter.lab.pytest_plugin import StartLabProcess
    from skitter.orchestrator.duty import Lead
    from skitter.services import Services
    from skitter.settings import Settings

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

SECRET = "a secret of the test"
BROKEN = WebSpec(hosts=4, pages=10, faults=(Fault("500", 1.0, attempts=0),))
RULES = """
backlog: {above: 30, for_s: 0}
no-progress: {above: 3}
worker-lost: {window_s: 5}
error-rate: {for_s: 0, least: 5, window_s: 6}
host-failing: {for_s: 0, least: 3, window_s: 6}
dead-letters: {above: 5, window_s: 6}
quality-failed: {window_s: 6}
"""


class Ear:
    """A webhook. While it is deaf it answers 503."""

    def __init__(self) -> None:
        self.heard: list[dict[str, Any]] = []
        self.deaf = False
        self.asked = 0
        self.url = ""

    async def hear(self, request: web.Request) -> web.Response:
        self.asked += 1
        if self.deaf:
            return web.Response(status=503)
        body = await request.read()
        at = request.headers["X-Skitter-Timestamp"]
        assert request.headers["X-Skitter-Signature"] == sign(SECRET, at, body)
        said = await request.json()
        assert request.headers["X-Skitter-Event"] == said["event"]
        self.heard.append(said)
        return web.Response()

    def said(self, rule: str) -> list[str]:
        return [one["kind"] for one in self.heard if one["rule"] == rule]


@pytest.fixture
async def ear() -> AsyncIterator[Ear]:
    ear = Ear()
    app = web.Application()
    app.router.add_post("/", ear.hear)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    ear.url = f"http://127.0.0.1:{runner.addresses[0][1]}/"
    yield ear
    await runner.cleanup()


@pytest.fixture
async def services(settings: Settings, ear: Ear, tmp_path: Path) -> AsyncIterator[Services]:
    (tmp_path / "rules.yaml").write_text(RULES)
    changes = {"webhooks": (ear.url,), "secret": SECRET, "file": tmp_path / "rules.yaml"}
    alerts = settings.alerts.model_copy(update=changes)
    async with open_services(settings.model_copy(update={"alerts": alerts})) as services:
        yield services


@pytest.fixture
def alerter(services: Services, lead: Lead) -> Alerter:
    return Alerter(services.frontier, services.store, services.settings.alerts, lead)


@asynccontextmanager
async def crew_of(services: Services, folder: Path) -> AsyncIterator[Crew]:
    redis = services.settings.redis
    async with Crew(str(redis.url), redis.namespace, folder) as crew:
        yield crew


def start(crew: Crew, lab: LabProcess) -> None:
    crew.start(lab=lab, retry__base_s="0.1", retry__max_attempts="3", retry__jitter="0")


async def until(alerter: Alerter, ear: Ear, rule: str, *kinds: str) -> None:
    """Look at the rules again and again until a webhook has heard this, and no more."""

    async def told() -> bool:
        await alerter.tend()
        return ear.said(rule) == list(kinds)

    await wait_until_async(told, timeout_s=90, what=f"{rule}: {kinds}, not {ear.heard}")


async def submit(services: Services, job: str, lab: LabProcess, *, pages: int) -> None:
    seeds = tuple(lab.url(n % 4, f"/p/{n // 4}") for n in range(pages))
    args = {"seeds": ""}
    await services.jobs.submit(Submission(spider="links", id=job, args=args, seeds=seeds))


def test_this_file_has_them_all() -> None:
    assert {line.partition(":")[0] for line in RULES.strip().splitlines()} == set(load_rules())


async def test_backlog_and_no_progress_without_workers(
    services: Services,
    alerter: Alerter,
    ear: Ear,
    lab_process: StartLabProcess,
    tmp_path: Path,
) -> None:
    lab = lab_process(WebSpec(hosts=4, pages=10, links=3))
    await submit(services, "j", lab, pages=40)
    await until(alerter, ear, "backlog", "fired")
    await until(alerter, ear, "no-progress", "fired")
    [fired] = [one for one in ear.heard if one["rule"] == "no-progress"]
    assert (fired["label"], fired["severity"]) == ("j", "critical")
    firing = await services.alerts.firing()
    assert {one["rule"] for one in firing} == {"backlog", "no-progress"}
    assert any("skitter jobs show j" in one["hint"] for one in firing)
    async with crew_of(services, tmp_path) as crew:
        start(crew, lab)
        await until(alerter, ear, "backlog", "fired", "cleared")
        await until(alerter, ear, "no-progress", "fired", "cleared")
    assert await services.alerts.firing() == []
    assert len(await services.alerts.events()) == 4


async def test_work_that_is_taken_is_no_progress_yet(
    services: Services,
    alerter: Alerter,
    ear: Ear,
    lab_process: StartLabProcess,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Between two questions of one look a worker takes all: nothing waits, and nothing is done."""
    lab = lab_process(WebSpec(hosts=4, pages=10))
    await submit(services, "j", lab, pages=4)
    await until(alerter, ear, "no-progress", "fired")
    pressure = alerter._watcher._pressure
    waiting, leases = pressure.waiting, []

    async def taken_before(lanes: Sequence[str]) -> Waiting:
        leases.extend((await services.frontier.lease(lanes, count=10)).leases)
        return await waiting(lanes)

    monkeypatch.setattr(pressure, "waiting", taken_before)
    await alerter.tend()
    assert len(leases) == 4
    assert ear.said("no-progress") == ["fired"]
    await services.frontier.settle([Settlement(lease) for lease in leases])
    await until(alerter, ear, "no-progress", "fired", "cleared")


async def test_a_paused_job_and_one_that_waits_are_no_lack_of_progress(
    services: Services, alerter: Alerter, ear: Ear, lab_process: StartLabProcess
) -> None:
    lab = lab_process(WebSpec(hosts=4, pages=10))
    await submit(services, "j", lab, pages=4)
    await services.jobs.pause("j")
    await services.frontier.jobs.submit(Job(id="later", spider="links"))
    await services.frontier.add([Request(job="later", url=lab.url(0))])
    [lease] = (await services.frontier.lease([Job(id="l", spider="links").lane], count=1)).leases
    await services.frontier.settle([Settlement(lease, outcome="retry", retry_ms=600_000)])
    rounds = 0

    async def watched() -> bool:
        nonlocal rounds
        await alerter.tend()
        rounds += 1
        return rounds > 20 and alerter._watcher.counting.still_s("job settled j") > 4

    await wait_until_async(watched, timeout_s=60)
    assert ear.said("no-progress") == []


async def test_failures_of_pages_hosts_and_jobs(
    services: Services,
    alerter: Alerter,
    ear: Ear,
    lab_process: StartLabProcess,
    tmp_path: Path,
) -> None:
    lab = lab_process(BROKEN)
    await submit(services, "j", lab, pages=40)
    await alerter.tend()
    async with crew_of(services, tmp_path) as crew:
        start(crew, lab)
        for rule in ("error-rate", "host-failing", "dead-letters"):
            await until_at_least(alerter, ear, rule, "fired")
        for rule in ("error-rate", "host-failing", "dead-letters"):
            await until_at_least(alerter, ear, rule, "cleared")
    hosts = {one["label"] for one in ear.heard if one["rule"] == "host-failing"}
    assert hosts <= {f"h{n}.lab" for n in range(4)}
    assert {one["label"] for one in ear.heard if one["rule"] == "error-rate"} == {"j"}


class Clock:
    """Seconds since 1970, as a test has them go by."""

    def __init__(self) -> None:
        self.now = time.time() - 10_000

    def __call__(self) -> float:
        return self.now


async def test_windows_go_on_under_a_new_leader(
    services: Services, lead: Lead, lab_process: StartLabProcess
) -> None:
    clock = Clock()
    alerts = services.settings.alerts.model_copy(
        update={"file": None, "thresholds": ("dead-letters=2",)}
    )

    def lead_anew() -> Alerter:
        return Alerter(services.frontier, services.store, alerts, lead, clock=clock)

    async def firing() -> set[str]:
        return {one["rule"] for one in await services.alerts.firing()}

    lab = lab_process(WebSpec(hosts=4, pages=10))
    await submit(services, "j", lab, pages=8)
    first = lead_anew()
    for _ in range(5):
        await first.tend()
        clock.now += 50
    assert await firing() == set()
    lane = Job(id="j", spider="links", args={"seeds": ""}).lane
    leased = await services.frontier.lease([lane], count=3)
    dead = [Settlement(lease, outcome="bury", reason="test") for lease in leased.leases]
    await services.frontier.settle(dead)
    await lead_anew().tend()  # it has never seen fewer dead letters
    assert "dead-letters" in await firing()
    clock.now += 100
    await lead_anew().tend()
    assert "no-progress" not in await firing()
    clock.now += 205  # 305 s after what was settled: no leader has seen it stand still for long
    await lead_anew().tend()
    assert "no-progress" in await firing()


async def until_at_least(alerter: Alerter, ear: Ear, rule: str, kind: str) -> None:
    async def told() -> bool:
        await alerter.tend()
        return kind in ear.said(rule)

    await wait_until_async(told, timeout_s=90, what=f"{rule} {kind}")


async def test_a_worker_that_is_killed_is_lost_and_one_that_ends_is_not(
    services: Services,
    alerter: Alerter,
    ear: Ear,
    lab_process: StartLabProcess,
    tmp_path: Path,
) -> None:
    lab = lab_process(WebSpec(hosts=1, pages=1))
    async with crew_of(services, tmp_path) as crew:
        start(crew, lab)
        [said] = await crew.said(state="running")
        os.kill(said["pid"], signal.SIGKILL)
        await until(alerter, ear, "worker-lost", "fired")
        assert ear.heard[-1]["label"] == said["name"]
        await until(alerter, ear, "worker-lost", "fired", "cleared")
        await crew.said(state="running")
        assert crew.workers[0].stop() == 0
        await alerter.tend()
    assert ear.said("worker-lost") == ["fired", "cleared"]


async def test_a_job_whose_items_do_not_pass(
    services: Services,
    alerter: Alerter,
    ear: Ear,
    lab_process: StartLabProcess,
    tmp_path: Path,
) -> None:
    lab = lab_process(WebSpec(hosts=1, pages=3))
    gates = {"least_items": 1000}
    submission = Submission(spider="links", id="j", args={"seeds": lab.url(0)}, gates=gates)
    await services.jobs.submit(submission)
    async with crew_of(services, tmp_path) as crew:
        start(crew, lab)
        await crew.until_ended("j")
    finisher = Finisher(services.frontier, services.store, services.settings)

    async def judged() -> bool:
        await finisher.tend()
        return (await services.jobs.show("j")).outcome == "quality failed"

    await wait_until_async(judged, timeout_s=30)
    await until(alerter, ear, "quality-failed", "fired")
    await until(alerter, ear, "quality-failed", "fired", "cleared")


async def test_a_webhook_that_is_deaf_for_a_while_hears_it_later_from_whoever_leads_then(
    services: Services, alerter: Alerter, ear: Ear, lead: Lead, lab_process: StartLabProcess
) -> None:
    lab = lab_process(WebSpec(hosts=4, pages=10))
    ear.deaf = True
    await submit(services, "j", lab, pages=40)

    async def asked() -> bool:
        await alerter.tend()
        return ear.asked > 0

    await wait_until_async(asked, timeout_s=30)
    ear.deaf = False
    following = Alerter(services.frontier, services.store, services.settings.alerts, lead)
    await until(following, ear, "backlog", "fired")
    assert len({one["event"] for one in ear.heard}) == len(ear.heard)


async def test_webhooks_can_be_tried(services: Services, ear: Ear) -> None:
    assert await services.alerts.test() == {"webhook 1": "ok"}
    assert ear.heard[0]["kind"] == "test"
    ear.deaf = True
    assert "503" in (await services.alerts.test())["webhook 1"]
