"""Jobs found by filters, a page at a time, newest first.

Each filter has an index in the order of the listing, and a page goes on from the last job of the
one before (a keyset), so that a page costs the same wherever it is and however long the history.
Words are walked by hand (`word_walk`): a planner that knows too little of them reads them all.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import func, literal, select, tuple_

from skitter.frontier.places import place_text, read_place
from skitter.jobs.rows import LISTED, label_word, to_ms, view_of_row, words_of
from skitter.jobs.word_walk import walk
from skitter.store.tables_jobs import job_totals, jobs

if TYPE_CHECKING:
    from sqlalchemy import Connection, Select

    from skitter.frontier.places import Place
    from skitter.jobs.view import JobView

COUNTED = 10_000
MOST_ROWS = 1000
MOST_LOOKED = 5_000
NO_WORD = " "  # no job has it


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

    def words(self) -> list[str] | None:
        """The words that a job must have, its label among them; None if none are asked for."""
        if self.text is None and self.label is None:
            return None
        found = words_of(self.text) if self.text is not None else []
        if self.text is not None and not found:
            return [NO_WORD]
        return list(dict.fromkeys([label_word(*self.label), *found] if self.label else found))

    def known_to_totals(self) -> bool:
        """Whether only what totals are kept of is asked for."""
        return not (self.spider or self.since or self.until)

    def fit(self, view: JobView) -> bool:
        """Whether a job that has changed since it was found is still wanted."""
        return (not self.state or view.state == self.state) and (
            not self.outcome or view.outcome == self.outcome
        )


@dataclass(frozen=True)
class Found:
    """Jobs of a page, and the place to go on from; None at the end."""

    jobs: list[JobView]
    next: str | None


def find_jobs(connection: Connection, filters: Filters, *, after: str | None, limit: int) -> Found:
    """The newest jobs that fit, or those that come after a place."""
    place = read_place(after) if after is not None else None
    limit = min(limit, MOST_ROWS)
    words = filters.words()
    if words is not None:
        return find_by_words(connection, filters, words, (place, limit))
    query = fitting(filters, select(*LISTED))
    if place:
        query = query.where(tuple_(jobs.c.created_ms, jobs.c.id) < tuple_(*map(literal, place)))
    query = query.order_by(jobs.c.created_ms.desc(), jobs.c.id.desc()).limit(limit + 1)
    views = [view_of_row(row) for row in connection.execute(query)]
    return Found(views[:limit], cursor_of(views[limit - 1]) if len(views) > limit else None)


def find_by_words(
    connection: Connection,
    filters: Filters,
    words: list[str],
    page: tuple[Place | None, int],
) -> Found:
    """A page of jobs that have all these words. It may be short, and yet not the last."""
    place, limit = page
    found: list[JobView] = []
    for looked in walk(connection, filters, words, place):
        rows = connection.execute(select(*LISTED).where(jobs.c.id.in_(looked.ids))).all()
        views = {row.id: view_of_row(row) for row in rows}
        found += [views[job] for job in looked.ids if job in views]
        if len(found) > limit:
            return Found(found[:limit], cursor_of(found[limit - 1]))
        if looked.total >= MOST_LOOKED:
            return Found(found, place_text(*looked.last))
    return Found(found, None)


def count_jobs(connection: Connection, filters: Filters) -> int:
    """How many fit, counted up to a bound; from the totals, where they know."""
    words = filters.words()
    if words is not None:
        counted = 0
        for looked in walk(connection, filters, words, None):
            counted += len(looked.ids)
            if looked.total >= COUNTED:
                break
        return min(counted, COUNTED)
    if filters.known_to_totals():
        return min(_total(connection, filters), COUNTED)
    query = fitting(filters, select(literal(1).label("one")))
    counting = select(func.count()).select_from(query.limit(COUNTED).subquery())
    return connection.execute(counting).scalar_one()


def _total(connection: Connection, filters: Filters) -> int:
    query = select(func.sum(job_totals.c.number))
    for name in ("state", "outcome", "project"):
        if (value := getattr(filters, name)) is not None:
            query = query.where(job_totals.c[name] == value)
    return int(connection.execute(query).scalar() or 0)


def cursor_of(view: JobView) -> str:
    """The place in a listing right after a job."""
    return place_text(to_ms(view.created_at), view.id)


def fitting(filters: Filters, query: Select[Any]) -> Select[Any]:
    """A query of jobs with the filters that are columns of theirs."""
    for name in ("state", "outcome", "spider", "project"):
        if (value := getattr(filters, name)) is not None:
            query = query.where(jobs.c[name] == value)
    if filters.since:
        query = query.where(jobs.c.created_ms >= to_ms(filters.since))
    if filters.until:
        query = query.where(jobs.c.created_ms < to_ms(filters.until))
    return query
