"""Ticks become jobs: once each, by the policies of their schedule, whoever dies on the way."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from skitter.errors import UnknownJob
from skitter.jobs.pushing import HOLD_MS, PUSHING
from skitter.jobs.service import SEEDING, SEEDING_MS
from skitter.jobs.submission import Submission
from skitter.orchestrator.errors import BadSchedule, ScheduleStands, Superseded, UnknownSchedule
from skitter.orchestrator.leader import Leader
from skitter.orchestrator.schedule import Overlap, Schedule
from skitter.orchestrator.schedule_files import ScheduleFiles
from skitter.orchestrator.schedule_rows import OPEN, read_ticks
from skitter.orchestrator.term import take_term
from skitter.orchestrator.ticker import Ticker
from skitter.orchestrator.ticking import Ticking
from skitter.service_errors import BadSubmission

if TYPE_CHECKING:
    from pathlib import Path

    from skitter.orchestrator.duty import Lead
    from skitter.services import Services

pytestmark = pytest.mark.integration

HOURLY = Schedule(name="prices", cron="0 * * * *", job={"spider": "shop", "args": {"x": "1"}})
ON_PAGES = replace(HOURLY, job={"spider": "shop", "seeds": [f"https://a.test/{n}" for n in (1, 2)]})


class Hours:
    """A ticker on a clock of the test's own: hours from the coming one."""

    def __init__(self, services: Services, lead: Lead) -> None:
        now = datetime.now(UTC)
        self.first = now.replace(minute=0, second=0, microsecond=0) + timedelta(hours=1)
        self.now = now
        self.services = services
        ticking = Ticking(services.frontier, services.store, services.jobs, lead=lead)
        self.ticker = Ticker(services.store, ticking, lead, grace_s=60, clock=lambda: self.now)

    async def at(self, hour: float) -> None:
        """Let it look at an hour from the first tick on."""
        self.now = self.first + timedelta(hours=hour)
        await self.ticker.tend()

    async def states(self) -> list[str]:
        """What became of all ticks, the oldest first."""
        ticks = await self.services.schedules.history("prices", limit=1000)
        return [tick.state for tick in reversed(ticks)]

    def job(self, hour: int) -> str:
        return f"prices-{self.first + timedelta(hours=hour):%Y%m%dT%H%M%SZ}"

    async def end(self, hour: int) -> None:
        await self.services.jobs.stop(self.job(hour))


@pytest.fixture
def hours(services: Services, lead: Lead) -> Hours:
    return Hours(services, lead)


async def test_a_tick_becomes_a_job_once(services: Services, hours: Hours) -> None:
    await services.schedules.add(HOURLY)
    await hours.at(-0.1)
    assert await hours.states() == []
    await hours.at(0.001)
    await hours.at(0.002)
    assert await hours.states() == ["submitted"]
    job = await services.jobs.show(hours.job(0))
    assert (job.spider, job.args, job.state) == ("shop", {"x": "1"}, "queued")
    assert job.figures.accepted == 1  # its start()
    await hours.end(0)
    await hours.at(0.003)
    [tick] = await services.schedules.history("prices")
    assert (tick.state, tick.note, tick.job) == ("ended", "cancelled", hours.job(0))


@pytest.mark.parametrize(
    ("overlap", "states"),
    [
        ("skip", ["submitted", "skipped", "skipped"]),
        ("queue", ["submitted", "waiting", "waiting"]),
        ("allow", ["submitted", "submitted", "submitted"]),
        ("cancel", ["ended", "ended", "submitted"]),
    ],
)
async def test_what_a_tick_does_while_the_last_job_is_live(
    services: Services, hours: Hours, overlap: Overlap, states: list[str]
) -> None:
    await services.schedules.add(replace(HOURLY, overlap=overlap))
    for hour in (0, 1, 2):
        await hours.at(hour + 0.001)
    await hours.at(2.002)
    assert await hours.states() == states


async def test_ticks_that_wait_go_one_after_the_other(services: Services, hours: Hours) -> None:
    await services.schedules.add(replace(HOURLY, overlap="queue"))
    for hour in (0, 1, 2):
        await hours.at(hour + 0.001)
    await hours.end(0)
    await hours.at(2.01)
    assert await hours.states() == ["ended", "submitted", "waiting"]
    await hours.end(1)
    await hours.at(2.02)
    assert await hours.states() == ["ended", "ended", "submitted"]


async def test_at_most_ten_ticks_wait(services: Services, hours: Hours) -> None:
    await services.schedules.add(replace(HOURLY, overlap="queue"))
    for hour in range(14):
        await hours.at(hour + 0.001)
    assert (await hours.states()).count("waiting") == 10
    assert (await hours.states()).count("skipped") == 3


async def test_what_was_missed_is_told_and_the_last_of_it_run(
    services: Services, hours: Hours
) -> None:
    await services.schedules.add(HOURLY)
    await hours.at(5.5)
    assert await hours.states() == ["missed"] * 5 + ["submitted"]


async def test_a_job_that_was_given_up_before_it_had_anything_is_made_once_more(
    services: Services, hours: Hours
) -> None:
    await services.schedules.add(ON_PAGES)
    job = Submission.from_json(ON_PAGES.job | {"id": hours.job(0)}).job(hours.job(0))
    await services.frontier.jobs.submit(job)
    await services.frontier.jobs.stop(job.id, outcome="failed")
    await hours.at(0.001)
    [tick] = await services.schedules.history("prices")
    assert (tick.state, tick.job) == ("submitted", hours.job(0) + "-again")
    assert (await services.jobs.show(tick.job)).figures.accepted == 2
    await hours.at(0.002)
    assert await hours.states() == ["submitted"]


class Crash(Exception):
    pass


@pytest.mark.parametrize("schedule", [HOURLY, ON_PAGES])
@pytest.mark.parametrize("after", ["claim", "create", "submit"])
async def test_a_leader_that_dies_anywhere_is_completed_by_the_next(
    services: Services,
    hours: Hours,
    lead: Lead,
    monkeypatch: pytest.MonkeyPatch,
    after: str,
    schedule: Schedule,
) -> None:
    await services.schedules.add(schedule)
    target, name = {
        "claim": (services.jobs, "submit"),
        "create": (services.frontier, "add"),
        "submit": (hours.ticker._ticking, "_submit"),
    }[after]

    async def die(*args: Any) -> None:
        if after == "submit":
            await submit(*args)
        raise Crash

    submit = hours.ticker._ticking._submit
    with monkeypatch.context() as patch:
        patch.setattr(target, name, die)
        with pytest.raises(Crash):
            await hours.at(0.001)
    assert await hours.states() == ["claimed"]
    following = Hours(services, lead)
    await following.at(0.002)
    await following.at(0.003)
    assert await hours.states() == ["submitted"]
    job = await services.jobs.show(hours.job(0))
    assert job.figures.accepted == len(schedule.job.get("seeds", ["start"]))
    assert (await services.jobs.count()).number == 1
    assert await services.frontier.jobs.holds(job.id) == {}


async def test_a_leader_killed_before_the_store_knew_of_the_seeds_loses_none(
    services: Services, hours: Hours
) -> None:
    await services.schedules.add(ON_PAGES)
    made = Submission.from_json(ON_PAGES.job).job(hours.job(0))
    holds = {SEEDING: SEEDING_MS, f"{PUSHING}killed": HOLD_MS}
    assert await services.frontier.jobs.create(made, holds=holds)
    await hours.at(0.001)
    assert await hours.states() == ["submitted"]
    await services.frontier.jobs.release_hold(hours.job(0), f"{PUSHING}killed")
    assert await services.jobs.resume_seeding(hours.job(0))  # as the projector does
    job = await services.jobs.show(hours.job(0))
    assert (job.state, job.figures.accepted) == ("queued", 2)


async def test_an_older_leader_claims_nothing(services: Services, hours: Hours) -> None:
    await services.schedules.add(HOURLY)
    await services.store.write(lambda found: take_term(found, "the next"))
    with pytest.raises(Superseded):
        await hours.at(0.001)
    assert await hours.states() == []


async def test_a_leader_that_is_superseded_in_the_middle_leaves_the_tick_to_the_next(
    services: Services, hours: Hours
) -> None:
    await services.schedules.add(HOURLY)
    lock = f"{services.frontier.shards.prefixes[0]}lock:orchestrator"
    await services.frontier.shards.command("HDEL", lock, "owner")
    assert await Leader(services.frontier, name="the next", lease_s=3600).campaign()
    with pytest.raises(Superseded):
        await hours.at(0.001)
    assert await hours.states() == ["claimed"]
    assert (await services.jobs.count()).number == 0


async def test_an_older_leader_notes_nothing(
    services: Services, hours: Hours, monkeypatch: pytest.MonkeyPatch
) -> None:
    await services.schedules.add(HOURLY)
    submit = services.jobs.submit

    async def overtaken(submission: Submission) -> Any:
        await services.store.write(lambda found: take_term(found, "the next"))
        return await submit(submission)

    monkeypatch.setattr(services.jobs, "submit", overtaken)
    with pytest.raises(Superseded):
        await hours.at(0.001)
    assert await hours.states() == ["claimed"]  # the next one finds its job


async def test_a_job_that_cannot_be_is_told_and_others_go_on(
    services: Services, hours: Hours
) -> None:
    await services.schedules.add(HOURLY)
    await services.schedules.add(replace(HOURLY, name="other"))
    # A unique job beside a live one of its kind: known only when it is submitted.
    await services.schedules.change("prices", job={"spider": "shop", "unique": True})
    await services.schedules.change("other", job={"spider": "shop", "unique": True})
    await hours.at(0.001)
    [mine] = await services.schedules.history("prices")
    [other] = await services.schedules.history("other")
    assert {mine.state, other.state} == {"submitted", "failed"}
    assert "already" in mine.note + other.note


async def test_a_run_by_hand_is_a_tick_beside_the_others(services: Services, hours: Hours) -> None:
    await services.schedules.add(HOURLY)
    await hours.at(0.001)
    first, second = [await services.schedules.run_now("prices") for _ in range(2)]
    assert (first.state, first.manual) == ("submitted", True)
    assert first.job != second.job
    assert (await services.jobs.show(second.job)).spider == "shop"
    assert sorted(await hours.states()) == ["submitted"] * 3


async def test_paused_it_does_not_tick_and_what_passed_is_not_missed(
    services: Services, hours: Hours
) -> None:
    await services.schedules.add(HOURLY)
    view = await services.schedules.pause("prices")
    assert view.next_ticks == []
    await hours.at(3.5)
    view = await services.schedules.resume("prices")
    assert len(view.next_ticks) == 5
    assert view.next_ticks[0] == hours.first
    assert await hours.states() == []


async def test_names_are_known_once_and_what_is_wrong_is_refused(services: Services) -> None:
    await services.schedules.add(HOURLY)
    with pytest.raises(ScheduleStands):
        await services.schedules.add(HOURLY)
    with pytest.raises(BadSchedule):
        await services.schedules.add(replace(HOURLY, name="x", cron="now"))
    with pytest.raises(BadSubmission):
        await services.schedules.add(replace(HOURLY, name="x", job={"spider": "s", "moons": 1}))
    for ask in (services.schedules.show, services.schedules.delete, services.schedules.run_now):
        with pytest.raises(UnknownSchedule):
            await ask("nobody")
    await services.schedules.delete("prices")
    assert await services.schedules.list() == []


async def test_a_schedule_that_is_deleted_takes_its_open_ticks_along(
    services: Services, hours: Hours
) -> None:
    await services.schedules.add(replace(HOURLY, overlap="queue"))
    for hour in (0, 1):
        await hours.at(hour + 0.001)
    await services.schedules.delete("prices")
    await hours.at(1.01)
    found = await services.store.read(lambda rows: read_ticks(rows, states=OPEN, limit=9))
    assert found == []
    assert (await services.jobs.show(hours.job(0))).state == "queued"
    with pytest.raises(UnknownJob):
        await services.jobs.show(hours.job(1))


FILE = """
schedules:
  nightly:
    cron: "0 3 * * *"
    timezone: Europe/Paris
    job: {spider: shop, args: {country: fr}}
  often:
    cron: "*/5 * * * *"
    overlap: cancel
    job: {spider: news}
"""


async def test_files_add_change_and_take_away(services: Services, tmp_path: Path) -> None:
    folder = tmp_path / "schedules"
    files = ScheduleFiles(services.schedules, folder)
    assert await files.tend() == 0
    folder.mkdir()
    path = folder / "mine.yaml"
    path.write_text(FILE)
    await services.schedules.add(HOURLY)
    assert await files.tend() == 2
    assert await files.tend() == 0
    names = [view.schedule.name for view in await services.schedules.list()]
    assert names == ["nightly", "often", "prices"]
    path.write_text(FILE.replace("*/5", "*/7"))
    assert await files.tend() == 1
    assert (await services.schedules.show("often")).schedule.cron == "*/7 * * * *"
    path.write_text(FILE.replace("*/5", "never"))  # what stands, stays
    assert await files.tend() == 0
    assert (await services.schedules.show("often")).schedule.cron == "*/7 * * * *"
    path.write_text("schedules: {nightly: {cron: '0 3 * * *', job: {spider: shop}}}")
    assert await files.tend() == 2
    path.unlink()
    assert await files.tend() == 1
    assert [view.schedule.name for view in await services.schedules.list()] == ["prices"]
