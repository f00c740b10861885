"""Jobs that have some words, newest first: along the rarest word, part by part.

Each step is a look at an index that no planner can get wrong: where a part of the rarest word's
jobs ends, then which of the part have the other words and fit the other filters. A part is bounded:
it costs the same however long the history is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import func, literal, select, tuple_

from skitter.jobs.rows import to_ms
from skitter.store.tables_jobs import job_words, jobs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import ColumnElement, Connection, Select

    from skitter.jobs.listing import Filters

Place = tuple[int, str]
RARE = 500
_AT, _JOB = job_words.c.created_ms, job_words.c.job


@dataclass(frozen=True)
class Part:
    """Jobs of a part that fit, and the last one that was looked at, if there are more."""

    fitting: list[Place]
    last: Place | None


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """A part begins after a place and has so many jobs; it is over when as many fit as wanted."""

    after: Place | None = None
    size: int
    wanted: int


def look(connection: Connection, filters: Filters, words: Sequence[str], bounds: Bounds) -> Part:
    """Look at a part of the first word's jobs."""
    rarest, *others = words
    part = of_word(filters, rarest, bounds.after)
    end = connection.execute(part.limit(1).offset(bounds.size - 1)).first()
    last = (end.created_ms, end.job) if end else None
    if last:
        part = part.where(tuple_(_AT, _JOB) >= tuple_(*map(literal, last)))
    fitting = part.where(*having(others, _AT, _JOB), *_columns(filters)).limit(bounds.wanted)
    return Part([(row.created_ms, row.job) for row in connection.execute(fitting)], last)


def having(words: Sequence[str], at: ColumnElement[Any], job: ColumnElement[Any]) -> list[Any]:
    """That a job has each of these words.

    A subquery with a value is looked up for each job. Of an EXISTS, PostgreSQL would make a join,
    and read all that has the word.
    """
    other = job_words.alias("other")
    found = select(literal(1)).where(other.c.created_ms == at, other.c.job == job)
    return [found.where(other.c.word == word).scalar_subquery() == 1 for word in words]


def rarest_first(connection: Connection, filters: Filters, words: Sequence[str]) -> dict[str, int]:
    """Rare words tell jobs apart; common ones are told from them by counting a little."""
    counts = {word: count_up_to(connection, of_word(filters, word), RARE) for word in words}
    return dict(sorted(counts.items(), key=lambda item: item[1]))


def count_up_to(connection: Connection, query: Select[Any], most: int) -> int:
    """How many rows a query has, counted up to a bound."""
    some = query.with_only_columns(literal(1).label("one")).limit(most)
    return connection.execute(select(func.count()).select_from(some.subquery())).scalar_one()


def of_word(filters: Filters, word: str, place: Place | None = None) -> Select[Any]:
    """All that have a word, newest first, from a place on."""
    query = select(_AT, _JOB).where(job_words.c.word == word)
    if filters.since:
        query = query.where(to_ms(filters.since) <= _AT)
    if filters.until:
        query = query.where(to_ms(filters.until) > _AT)
    if place:
        query = query.where(tuple_(_AT, _JOB) < tuple_(*map(literal, place)))
    return query.order_by(_AT.desc(), _JOB.desc())


def _columns(filters: Filters) -> list[Any]:
    """That a job fits the filters that are columns of its row.

    It is looked up by them and its time: they are an index, and no row is read. By its id, hence
    the || '', its row would be.
    """
    if not (conditions := filters.conditions()):
        return []
    found = select(literal(1)).where(*conditions)
    found = found.where(jobs.c.created_ms == _AT, jobs.c.id.concat("") == _JOB)
    return [found.scalar_subquery() == 1]
