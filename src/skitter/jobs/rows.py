"""Jobs' rows in the store: written by version, found by words, counted as they change.

A row is written by whoever has read the job: an older version of it, or an older reading of the
same version, never replaces a newer one.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from sqlalchemy import delete, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite

from skitter.jobs.submission import Submission
from skitter.jobs.view import Figures, JobView, moment
from skitter.store.tables_jobs import (
    job_errors,
    job_runs,
    job_spider_totals,
    job_totals,
    job_words,
    jobs,
)

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from sqlalchemy import Connection, Row, Table

MOST_WORDS = 100
_WORD = re.compile(r"[^\W_]+(?:[._-][^\W_]+)*")
_PART = re.compile(r"[^\W_]+")
LISTED = [column for column in jobs.columns if column.name != "submission"]


def write_job(
    connection: Connection, view: JobView, *, read_ms: int, submitted: bool = False
) -> bool:
    """Keep a job as it was read; False if a newer reading stands.

    submitted says that its submission is as it was made, and replaces one that was put together
    from the job's record.
    """
    found = connection.execute(
        select(jobs.c.state, jobs.c.outcome, jobs.c.version, jobs.c.read_ms)
        .where(jobs.c.id == view.id)
        .with_for_update()
    ).first()
    values = job_values(view, read_ms=read_ms)
    if found is None and _insert(connection, view, values):
        return True
    if found is None:  # another process was first
        return write_job(connection, view, read_ms=read_ms, submitted=submitted)
    if submitted:
        _change(connection, view.id, {"submission": values["submission"]})
        _add_words(connection, view, values["created_ms"])
    if (found.version, found.read_ms) > (view.version, read_ms):
        return False
    del values["id"], values["submission"]
    _change(connection, view.id, values)
    if (found.state, found.outcome) != (view.state, view.outcome):
        gone = (found.state, found.outcome)
        _count(connection, (view.spider, view.project), {gone: -1, (view.state, view.outcome): 1})
    return True


def read_job(connection: Connection, job: str) -> JobView | None:
    """A job by its id, with its submission."""
    row = connection.execute(select(jobs).where(jobs.c.id == job)).first()
    if row is None:
        return None
    return view_of_row(row, submission=Submission.from_json(json.loads(row.submission)))


def read_jobs(connection: Connection, ids: Iterable[str]) -> dict[str, JobView]:
    """Jobs by their ids, without their submissions."""
    rows = connection.execute(select(*LISTED).where(jobs.c.id.in_(list(ids))))
    return {row.id: view_of_row(row) for row in rows}


def is_kept(connection: Connection, job: str) -> bool:
    """Whether there is a row of a job."""
    return connection.execute(select(jobs.c.id).where(jobs.c.id == job)).first() is not None


def delete_job(connection: Connection, job: str) -> bool:
    """Forget a job and what is kept of it."""
    row = connection.execute(
        select(jobs.c.project, jobs.c.spider, jobs.c.state, jobs.c.outcome)
        .where(jobs.c.id == job)
        .with_for_update()
    ).first()
    if row is None:
        return False
    connection.execute(delete(jobs).where(jobs.c.id == job))
    connection.execute(delete(job_words).where(job_words.c.job == job))
    for table in (job_errors, job_runs):
        connection.execute(delete(table).where(table.c.job == job))
    _count(connection, (row.spider, row.project), {(row.state, row.outcome): -1})
    return True


def write_errors(connection: Connection, job: str, errors: dict[str, int]) -> None:
    """Keep what went wrong in a job, counted."""
    connection.execute(delete(job_errors).where(job_errors.c.job == job))
    if errors:
        connection.execute(insert(job_errors).values(job=job, errors=errors))


def read_errors(connection: Connection, job: str) -> dict[str, int]:
    row = connection.execute(select(job_errors.c.errors).where(job_errors.c.job == job)).first()
    return dict(row.errors) if row else {}


def read_totals(connection: Connection, project: str | None) -> list[tuple[str, str, int]]:
    """How many jobs there are, by state and outcome."""
    query = select(job_totals).where(job_totals.c.number != 0)
    if project is not None:
        query = query.where(job_totals.c.project == project)
    return [(row.state, row.outcome, row.number) for row in connection.execute(query)]


def view_of_row(row: Row[Any], *, submission: Submission | None = None) -> JobView:
    """A job as its row has it."""
    return JobView(
        id=row.id,
        project=row.project,
        spider=row.spider,
        args=row.args,
        labels=row.labels,
        attrs=row.attrs,
        state=row.state,
        outcome=row.outcome,
        priority=row.priority,
        version=row.version,
        created_at=moment(row.created_ms),
        ended_at=moment(row.ended_ms) if row.ended_ms else None,
        expires_at=moment(row.expires_ms) if row.expires_ms else None,
        figures=Figures(**row.figures),
        failures=row.failures,
        submission=submission,
    )


def words_of(text: str) -> list[str]:
    """The words of a search, as they are kept."""
    return [word.lower()[:200] for word in _WORD.findall(text)]


def label_word(name: str, value: str) -> str:
    """A label as a word of its own; no text that is searched for has an = in it."""
    return f"{name}={value}"


def _insert(connection: Connection, view: JobView, values: dict[str, Any]) -> bool:
    """False if another process was first."""
    statement = _insert_into(connection, jobs).values(values).on_conflict_do_nothing()
    if not connection.execute(statement).rowcount:
        return False
    _add_words(connection, view, values["created_ms"])
    _count(connection, (view.spider, view.project), {(view.state, view.outcome): 1})
    return True


def _add_words(connection: Connection, view: JobView, created_ms: int) -> None:
    rows = [{"word": word, "created_ms": created_ms, "job": view.id} for word in words_of_job(view)]
    connection.execute(_insert_into(connection, job_words).on_conflict_do_nothing(), rows)


def _change(connection: Connection, job: str, values: dict[str, Any]) -> None:
    connection.execute(update(jobs).where(jobs.c.id == job).values(values))


def _insert_into(connection: Connection, table: Table) -> postgresql.Insert | sqlite.Insert:
    """An insert that knows of conflicts, which each database spells alike and apart."""
    if connection.dialect.name == "postgresql":
        return postgresql.insert(table)
    return sqlite.insert(table)


def job_values(view: JobView, *, read_ms: int) -> dict[str, Any]:
    """A job as a row."""
    submission = view.submission.to_json() if view.submission else {"spider": view.spider}
    return {
        "id": view.id,
        "project": view.project,
        "spider": view.spider,
        "state": view.state,
        "outcome": view.outcome,
        "priority": view.priority,
        "version": view.version,
        "read_ms": read_ms,
        "created_ms": to_ms(view.created_at),
        "ended_ms": to_ms(view.ended_at),
        "expires_ms": to_ms(view.expires_at),
        "args": view.args,
        "labels": view.labels,
        "attrs": view.attrs,
        "figures": asdict(view.figures),
        "failures": view.failures,
        "submission": json.dumps(submission),
    }


def to_ms(at: datetime | None) -> int:
    return round(at.timestamp() * 1000) if at else 0


def words_of_job(view: JobView) -> set[str]:
    """What a job is found by: whole words and their parts, hosts of its seeds, and its labels."""
    seeds = view.submission.seeds[:MOST_WORDS] if view.submission else ()
    hosts = {urlsplit(seed).hostname or "" for seed in seeds if not seed.startswith("{")}
    texts = [view.id, view.spider, *view.args.values(), *view.labels.values(), *hosts]
    found = {word for text in texts for word in (*words_of(text), *_parts(text))}
    labels = {label_word(name, value) for name, value in view.labels.items()}
    return {view.id.lower(), *sorted(found)[:MOST_WORDS], *labels}


def _parts(text: str) -> list[str]:
    return [part.lower()[:200] for part in _PART.findall(text)]


def _count(
    connection: Connection, owner: tuple[str, str], changes: dict[tuple[str, str], int]
) -> None:
    """Totals are rows of their own, so that nobody has to count.

    Those of all spiders come last: every writer waits for these, so they are locked for the least.
    """
    of_all = {"project": owner[1]}
    for table, key in ((job_spider_totals, {"spider": owner[0], **of_all}), (job_totals, of_all)):
        for (state, outcome), change in changes.items():
            row = key | {"state": state, "outcome": outcome}
            statement = _insert_into(connection, table).values(**row, number=change)
            more = {"number": table.c.number + change}
            connection.execute(statement.on_conflict_do_update(index_elements=[*row], set_=more))
