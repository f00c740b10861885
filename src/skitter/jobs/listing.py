"""Jobs found by filters, a page at a time, newest first.

Each filter has an index in the order of the listing, and a page goes on from the last job of the
one before (a keyset), so that a page costs the same wherever it is and however long the history.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import func, literal, select, tuple_

from skitter.jobs.rows import LISTED, label_word, to_ms, view_of_row, words_of
from skitter.service_errors import BadCursor
from skitter.store.tables_jobs import job_words, jobs

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection, Select

    from skitter.jobs.view import JobView

COUNTED = 10_000
_MOST_ROWS = 1000


@dataclass(frozen=True, kw_only=True)
class Filters:
    """Which jobs are wanted: all, unless told otherwise.

    text is words, each of which must be one of a job's: of its id, spider, arguments, labels, or a
    host of its seeds. since and until bound when it was submitted.
    """

    state: str | None = None
    outcome: str | None = None
    spider: str | None = None
    project: str | None = None
    label: tuple[str, str] | None = None
    text: str | None = None
    since: datetime | None = None
    until: datetime | None = None

    def fit(self, view: JobView) -> bool:
        """Whether a job that has changed since it was found is still wanted."""
        return (not self.state or view.state == self.state) and (
            not self.outcome or view.outcome == self.outcome
        )


def find_jobs(
    connection: Connection, filters: Filters, *, after: str | None, limit: int
) -> list[JobView]:
    """The newest jobs that fit, or those that come after a place."""
    query, time, key = _filtered(filters, select(*LISTED))
    if after is not None:
        created_ms, job = read_cursor(after)
        query = query.where(tuple_(time, key) < tuple_(literal(created_ms), literal(job)))
    query = query.order_by(time.desc(), key.desc()).limit(min(limit, _MOST_ROWS))
    return [view_of_row(row) for row in connection.execute(query)]


def count_jobs(connection: Connection, filters: Filters) -> int:
    """How many fit, counted up to a bound."""
    query, _, _ = _filtered(filters, select(literal(1).label("one")))
    return connection.execute(
        select(func.count()).select_from(query.limit(COUNTED).subquery())
    ).scalar_one()


def cursor_of(view: JobView) -> str:
    """The place in a listing right after a job."""
    return f"{to_ms(view.created_at)}~{view.id}"


def read_cursor(text: str) -> tuple[int, str]:
    ms, tilde, job = text.partition("~")
    if not (ms.isdigit() and len(ms) < 16 and tilde and job):
        raise BadCursor(cursor=repr(text[:100]))
    return int(ms), job


def _filtered(
    filters: Filters, query: Select[Any]
) -> tuple[Select[Any], ColumnElement[Any], ColumnElement[Any]]:
    """The query with its filters, and the columns that order it.

    Words come first: their index is in the order of the listing too, and is the narrower one.
    """
    time: ColumnElement[Any] = jobs.c.created_ms
    key: ColumnElement[Any] = jobs.c.id
    words = words_of(filters.text) if filters.text is not None else []
    if filters.label:
        words.insert(0, label_word(*filters.label))
    for number, word in enumerate(dict.fromkeys(words)):
        found = job_words.alias(f"word{number}")
        query = query.join(found, (found.c.job == key) & (found.c.created_ms == time))
        query = query.where(found.c.word == word)
        if number == 0:
            query = query.where(jobs.c.id == found.c.job)
            time, key = found.c.created_ms, found.c.job
    if filters.text is not None and not words:
        query = query.where(literal(1) == literal(0))
    for name in ("state", "outcome", "spider", "project"):
        if (value := getattr(filters, name)) is not None:
            query = query.where(jobs.c[name] == value)
    if filters.since:
        query = query.where(time >= to_ms(filters.since))
    if filters.until:
        query = query.where(time < to_ms(filters.until))
    return query, time, key
