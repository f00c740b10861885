"""What was kept long enough goes, and nothing else."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import update

from skitter.access import Audit, Principal, Role
from skitter.frontier import Job, Request, Settlement
from skitter.jobs.submission import Submission
from skitter.orchestrator.pruner import Pruner
from skitter.orchestrator.schedule import Schedule
from skitter.orchestrator.schedule_rows import insert_tick, write_tick
from skitter.sinks import open_sink, read_items
from skitter.sinks.item import Item
from skitter.store.tables_jobs import jobs

if TYPE_CHECKING:
    from pathlib import Path

    from skitter.services import Services
    from skitter.settings import Settings

pytestmark = pytest.mark.integration


def pruner(services: Services, settings: Settings, **keep: float | None) -> Pruner:
    """With nothing to throw away but what a test names."""
    nothing = dict.fromkeys(type(settings.retention).model_fields)
    retention = settings.retention.model_copy(update=nothing | keep)
    return Pruner(
        services.frontier, services.store, settings.model_copy(update={"retention": retention})
    )


async def test_ended_jobs_go_and_live_and_younger_ones_stay(
    services: Services, settings: Settings
) -> None:
    for name in ("old", "young", "live"):
        await services.jobs.submit(Submission(spider="x", id=name))
    for name in ("old", "young"):
        await services.jobs.stop(name)
        await services.jobs.list()
    long_ago = int((time.time() - 100 * 86_400) * 1000)
    ended = {"state": "ended", "outcome": "cancelled"}
    await services.store.write(
        lambda found: [
            found.execute(
                update(jobs)
                .where(jobs.c.id == name)
                .values(**ended, created_ms=long_ago, ended_ms=at)
            )
            for name, at in (("old", long_ago), ("young", int(time.time() * 1000)))
        ]
    )
    assert await pruner(services, settings).tend() == 0
    assert await pruner(services, settings, jobs_days=90).tend() == 1
    left = await services.store.read(lambda found: {row.id for row in found.execute(jobs.select())})
    assert left == {"young", "live"}


async def test_ticks_that_are_over_go_and_open_ones_stay(
    services: Services, settings: Settings
) -> None:
    await services.schedules.add(Schedule(name="s", cron="@daily", job={"spider": "x"}))
    long_ago = datetime.now(UTC) - timedelta(days=100)
    for days in range(3):
        at = long_ago + timedelta(days=days)
        await services.store.write(lambda found, at=at: insert_tick(found, "s", at))  # type: ignore[misc]
    over = (await services.schedules.history("s"))[0]
    ended = replace(over, state="ended")
    await services.store.write(lambda found: write_tick(found, ended, now=long_ago))
    assert await pruner(services, settings, ticks_days=90).tend() == 1
    assert [tick.state for tick in await services.schedules.history("s")] == ["claimed"] * 2


async def test_dead_letters_of_live_jobs_go(services: Services, settings: Settings) -> None:
    frontier = services.frontier
    job = Job(id="j", spider="x", robots=False)
    await frontier.jobs.submit(job)
    await frontier.add([Request(job="j", url="https://a.test/")])
    [lease] = (await frontier.lease([job.lane], count=1)).leases
    await frontier.settle([Settlement(lease, outcome="bury", reason="test")])
    assert await pruner(services, settings, dead_letters_days=1).tend() == 0
    assert len(await frontier.dead.find()) == 1
    assert await pruner(services, settings, dead_letters_days=1e-9).tend() == 1
    assert await frontier.dead.find() == []


async def test_lines_of_the_audit_log_go(services: Services, settings: Settings) -> None:
    who = Principal("cli", "ann", Role.ADMIN)
    now = time.time()
    for days, action in ((400, "old"), (300, "young")):
        await Audit(services.store, now=lambda at=now - days * 86_400: at).begin(who, action)  # type: ignore[misc]
    assert settings.retention.audit_days == 365
    assert await pruner(services, settings).tend() == 0
    assert await pruner(services, settings, audit_days=365).tend() == 1
    assert [entry.action for entry in await services.audit.list()] == ["young"]


async def test_items_that_were_not_seen_for_long_go(services: Services, settings: Settings) -> None:
    sink = open_sink(settings.items.sink)
    await sink.open()
    page = "https://a.test/"
    await sink.put(
        [
            Item(id=f"i{n}", data={"n": n}, job="j", spider="x", url=page, kind="dict")
            for n in range(3)
        ]
    )
    await sink.close()
    assert await pruner(services, settings, items_days=1).tend() == 0
    assert await pruner(services, settings, items_days=1e-9).tend() == 3
    assert list(read_items(settings.items.sink[0], job="j")) == []


async def test_log_files_that_were_put_aside_go(
    services: Services, settings: Settings, tmp_path: Path
) -> None:
    for name in ("s.log", "s.log.1", "s.log.2", "other.log.1"):
        (tmp_path / name).write_text("x")
    old = time.time() - 10 * 86_400
    for name in ("s.log", "s.log.2", "other.log.1"):
        os.utime(tmp_path / name, (old, old))
    log = settings.log.model_copy(update={"file": tmp_path / "s.log"})
    logged = settings.model_copy(update={"log": log})
    assert await pruner(services, logged, logs_days=5).tend() == 1
    left = {path.name for path in tmp_path.glob("*.log*")}
    assert left == {"s.log", "s.log.1", "other.log.1"}
