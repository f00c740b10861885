"""Two orchestrators, and the one that leads is killed again and again while schedules run."""

from __future__ import annotations

import time
from collections import Counter
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from skitter.orchestrator.schedule import Schedule
from skitter.orchestrator.status import read_status
from tests.integration.orchestrator.crew import Orchestrators
from tests.wait import wait_until_async

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from skitter.orchestrator.schedule import Tick
    from skitter.services import Services

pytestmark = [pytest.mark.integration, pytest.mark.timeout(600)]

KILLS = 10
SCHEDULES = {"even": "*/2 * * * * *", "third": "*/3 * * * * *"}


@pytest.fixture
async def crew(services: Services, tmp_path: Path) -> AsyncIterator[Orchestrators]:
    crew = Orchestrators(services, tmp_path)
    yield crew
    crew.close()


async def test_killing_the_leader_ten_times_loses_no_tick_and_doubles_none(
    services: Services, crew: Orchestrators
) -> None:
    for _ in range(2):
        crew.start()
    await crew.alive(2)
    for name, cron in SCHEDULES.items():
        job = {"spider": "none", "seeds": [f"https://{name}.test/{n}" for n in range(3)]}
        await services.schedules.add(Schedule(name=name, cron=cron, job=job, overlap="allow"))
    gaps = []
    for _ in range(KILLS):
        victim = await crew.leader()
        await _more_ticks(services)
        await crew.alive(2)
        crew.kill(victim)
        killed_at = time.monotonic()
        crew.start()
        await _handed_over(crew, victim)
        gaps.append(time.monotonic() - killed_at)
    await _more_ticks(services)
    for name in SCHEDULES:
        await services.schedules.pause(name)
    await _settled(services)
    print("handed over after", [round(gap, 1) for gap in gaps])
    assert max(gaps) < 10
    await _check(services)


async def _check(services: Services) -> None:
    jobs: Counter[str] = Counter()
    for name in SCHEDULES:
        ticks = await _history(services, name)
        times = [tick.at for tick in ticks]
        cron = (await services.schedules.show(name)).schedule.check()
        # No tick lost between the first and the last, none doubled.
        assert times == [times[0], *cron.between(times[0], times[-1], most=10_000)]
        assert {tick.state for tick in ticks} <= {"submitted", "ended"}
        jobs.update(tick.job for tick in ticks)
        assert len(ticks) > KILLS
    assert set(jobs.values()) == {1}
    kept = []
    after = None
    while True:
        page = await services.jobs.list(limit=200, after=after)
        kept += page.jobs
        if (after := page.next) is None:
            break
    # A job whose submitter was killed before anyone knew its seeds is given up, empty, and made
    # once more; all others have all of their seeds, once.
    born = [job for job in kept if job.outcome != "failed"]
    assert Counter(job.id for job in born) == jobs
    assert {job.figures.accepted for job in born} == {3}
    assert {job.figures.accepted for job in kept if job.outcome == "failed"} <= {0}


async def _history(services: Services, name: str) -> list[Tick]:
    return list(reversed(await services.schedules.history(name, limit=10_000)))


async def _more_ticks(services: Services) -> None:
    """Until a tick is submitted that was not due yet when this was asked."""
    begun = datetime.now(UTC)

    async def one() -> bool:
        ticks = await services.schedules.history("even", limit=20)
        return any(tick.at > begun and tick.state == "submitted" for tick in ticks)

    await wait_until_async(one, timeout_s=90, what="a new tick")


async def _handed_over(crew: Orchestrators, victim: str) -> None:
    async def moved() -> bool:
        return await crew.leader() != victim

    await wait_until_async(moved, timeout_s=30, what="another leads")


async def _settled(services: Services) -> None:
    async def over() -> bool:
        states = [t.state for name in SCHEDULES for t in await _history(services, name)]
        return "claimed" not in states

    await wait_until_async(over, timeout_s=90, what="all ticks are settled")

    async def seeded() -> bool:
        found = (await services.jobs.list(limit=10_000)).jobs
        return all(job.figures.accepted == 3 or job.outcome == "failed" for job in found)

    # A job whose submitter was killed over its seeds gets the rest when the dead one's hold ends.
    await wait_until_async(seeded, timeout_s=120, what="all jobs have their seeds")


async def test_one_that_ends_in_order_hands_over_at_once(
    services: Services, crew: Orchestrators
) -> None:
    for _ in range(2):
        crew.start()
    await crew.alive(2)
    first = await crew.leader()
    assert crew.stop(first) == 0
    begun = time.monotonic()
    second = await crew.leader()
    assert second != first
    assert time.monotonic() - begun < 5
    said = {one["name"] for one in await services.store.read(read_status)}
    assert first not in said
    assert crew.stop(second) == 0
