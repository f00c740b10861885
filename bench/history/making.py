"""A history of ended jobs, written in bulk with the values that the service itself would write."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from sqlalchemy import insert, text

from skitter.jobs.rows import job_values, words_of_job
from skitter.jobs.submission import Submission
from skitter.jobs.view import Figures, JobView
from skitter.store.tables_jobs import job_totals, job_words, jobs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection

    from skitter.store import Store

AT_ONCE = 5_000
BEGUN = datetime(2026, 1, 1, tzinfo=UTC)
OUTCOMES = ("finished",) * 90 + ("cancelled",) * 5 + ("failed",) * 3 + ("limit reached",) * 2


def history(count: int) -> Iterator[JobView]:
    """Jobs of a year: 40 spiders, 5 projects, some labels, a few of each outcome."""
    draw = random.Random(7)
    step = timedelta(days=300) / count
    for number in range(count):
        created = BEGUN + number * step
        spider = f"spider{draw.randrange(40)}"
        labels = {"team": f"team{draw.randrange(20)}", "batch": f"b{number % 500}"}
        args = {"country": draw.choice(("tn", "de", "fr", "jp"))}
        host = f"shop{draw.randrange(2000)}.example"
        done = draw.randrange(10_000)
        yield JobView(
            id=f"{spider}-{created:%y%m%d-%H%M%S}-{number:06x}",
            project=f"project{draw.randrange(5)}",
            spider=spider,
            args=args,
            labels=labels,
            attrs={},
            state="ended",
            outcome=draw.choice(OUTCOMES),
            priority=0,
            version=2,
            created_at=created,
            ended_at=created + timedelta(minutes=10),
            expires_at=None,
            figures=Figures(accepted=done, done=done, pages=done, items=done // 2),
            submission=Submission(spider=spider, args=args, seeds=(f"https://{host}/",)),
        )


async def fill(store: Store, count: int) -> list[str]:
    """Write a history; the ids, oldest first."""
    ids: list[str] = []
    totals: dict[tuple[str, str, str], int] = {}
    batch: list[JobView] = []
    for view in history(count):
        ids.append(view.id)
        batch.append(view)
        key = (view.project, view.state, view.outcome)
        totals[key] = totals.get(key, 0) + 1
        if len(batch) == AT_ONCE:
            await _write(store, batch)
            batch = []
    if batch:
        await _write(store, batch)
    await store.write(lambda found: _finish(found, totals))
    return ids


async def _write(store: Store, views: list[JobView]) -> None:
    rows = [job_values(view, read_ms=1) for view in views]
    words: list[dict[str, Any]] = [
        {"word": word, "created_ms": row["created_ms"], "job": view.id}
        for view, row in zip(views, rows, strict=True)
        for word in words_of_job(view)
    ]

    def write(connection: Connection) -> None:
        connection.execute(insert(jobs), rows)
        connection.execute(insert(job_words), words)

    await store.write(write)


def _finish(connection: Connection, totals: dict[tuple[str, str, str], int]) -> None:
    rows = [
        {"project": project, "state": state, "outcome": outcome, "number": number}
        for (project, state, outcome), number in totals.items()
    ]
    connection.execute(insert(job_totals), rows)
    if connection.dialect.name == "postgresql":  # its server does that by itself, in time
        connection.execute(text("ANALYZE"))
