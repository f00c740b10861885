"""Jobs that have some words, newest first: along the rarest word, part by part.

Each step is a look at an index that no planner can get wrong: some jobs of the rarest word in the
order of the listing, then which of these have the other words and fit the other filters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import func, literal, select, tuple_

from skitter.jobs.rows import to_ms
from skitter.store.tables_jobs import job_words, jobs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sqlalchemy import Connection, Row, Select

    from skitter.jobs.listing import Filters

Place = tuple[int, str]
FIRST, PART = 51, 500
RARE = 200


@dataclass(frozen=True)
class Looked:
    """Jobs of a part that fit, how many were looked at in all, and the last one of them."""

    ids: list[str]
    total: int
    last: Place


def walk(
    connection: Connection, filters: Filters, words: Sequence[str], place: Place | None
) -> Iterator[Looked]:
    """Parts of the walk, until the words are used up or nobody asks for more."""
    rarest, *others = _rarest_first(connection, words)
    total, size = 0, FIRST
    while True:
        rows = connection.execute(_part(filters, rarest, place).limit(size)).all()
        if not rows:
            return
        total, place = total + len(rows), (rows[-1].created_ms, rows[-1].job)
        yield Looked(_fitting(connection, rows, filters, others), total, place)
        if len(rows) < size:
            return
        size = PART


def _part(filters: Filters, word: str, place: Place | None) -> Select[Any]:
    time, job = job_words.c.created_ms, job_words.c.job
    query = select(time, job).where(job_words.c.word == word)
    if filters.since:
        query = query.where(time >= to_ms(filters.since))
    if filters.until:
        query = query.where(time < to_ms(filters.until))
    if place:
        query = query.where(tuple_(time, job) < tuple_(*map(literal, place)))
    return query.order_by(time.desc(), job.desc())


def _fitting(
    connection: Connection, rows: Sequence[Row[Any]], filters: Filters, others: Sequence[str]
) -> list[str]:
    """Those that have the other words too, and fit, in their order."""
    ids = [row.job for row in rows]
    if others:
        query = select(job_words.c.job).where(job_words.c.job.in_(ids))
        query = query.where(job_words.c.word.in_(others)).group_by(job_words.c.job)
        having = connection.execute(query.having(func.count() == len(others)))
        kept = {row.job for row in having}
        ids = [job for job in ids if job in kept]
    if columns := _columns(filters):
        query = select(jobs.c.id).where(jobs.c.id.in_(ids))
        for name, value in columns.items():
            query = query.where(jobs.c[name] == value)
        kept = {row.id for row in connection.execute(query)}
        ids = [job for job in ids if job in kept]
    return ids


def _columns(filters: Filters) -> dict[str, str]:
    values = {name: getattr(filters, name) for name in ("state", "outcome", "spider", "project")}
    return {name: value for name, value in values.items() if value is not None}


def _rarest_first(connection: Connection, words: Sequence[str]) -> list[str]:
    """Rare words tell jobs apart; common ones are told from them by counting a little."""
    if len(words) == 1:
        return list(words)
    counts = {}
    for word in words:
        some = select(literal(1).label("one")).where(job_words.c.word == word).limit(RARE)
        counting = select(func.count()).select_from(some.subquery())
        counts[word] = connection.execute(counting).scalar_one()
    return sorted(words, key=lambda word: counts[word])
