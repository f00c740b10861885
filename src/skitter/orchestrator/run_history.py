"""Figures of good runs, kept in the store by lane: what later runs of the same kind are held to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import delete, insert, select

from skitter.store.tables_jobs import job_runs
from skitter.validate.gates import RunFigures

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from skitter.frontier.live_jobs import JobRecord

PAST = 100


def past_runs(
    connection: Connection, lane: str, *, but: str, until_ms: int, most: int = PAST
) -> list[RunFigures]:
    """Figures of the last good runs of a lane, the latest last; one job's are left out."""
    rows = connection.execute(
        select(job_runs.c.figures)
        .where(job_runs.c.lane == lane, job_runs.c.job != but)
        .where(job_runs.c.ended_ms <= until_ms)
        .order_by(job_runs.c.ended_ms.desc())
        .limit(min(most, PAST))
    ).all()
    return [RunFigures.from_json(row.figures) for row in reversed(rows)]


def keep_run(connection: Connection, record: JobRecord, figures: RunFigures) -> None:
    """Keep a good run's figures, in place of what is kept of the job."""
    connection.execute(delete(job_runs).where(job_runs.c.job == record.job.id))
    connection.execute(
        insert(job_runs).values(
            job=record.job.id,
            lane=record.job.lane,
            ended_ms=record.ended_ms,
            figures=figures.to_json(),
        )
    )
