"""Jobs found by filters, a page at a time, newest first.

Each filter, and columns together, have an index in the order of the listing, and a page goes on
from the last job of the one before (a keyset), so that a page costs the same wherever it is and
however long the history. Words are walked by hand (`word_walk`): a planner that knows too little of
them reads them all.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import func, literal, select, tuple_

from skitter.frontier.places import place_text, read_place
from skitter.jobs.rows import LISTED, label_word, read_jobs, to_ms, view_of_row, words_of
from skitter.jobs.word_walk import RARE, Bounds, count_up_to, having, look, of_word, rarest_first
from skitter.store.tables_jobs import job_spider_totals, job_totals, jobs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import ColumnElement, Connection, Select

    from skitter.frontier.places import Place
    from skitter.jobs.view import JobView

COUNTED = 1_000
MOST_ROWS = 1000
# How many jobs of a word are looked at, where there are other filters: for a page, for a count.
LOOKED, LOOKED_TO_COUNT = 500, 300
NO_WORD = " "  # no job has it
_COLUMNS = ("state", "outcome", "spider", "project")


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

    def words(self) -> list[str]:
        """The words that a job must have, its label among them."""
        found = words_of(self.text) if self.text is not None else []
        if self.text is not None and not found:
            return [NO_WORD]
        return list(dict.fromkeys([label_word(*self.label), *found] if self.label else found))

    def known_to_totals(self) -> bool:
        """Whether only what totals are kept of is asked for."""
        return not (self.words() or self.since or self.until)

    def columns(self) -> dict[str, str]:
        """What a job's row must have."""
        values = {name: getattr(self, name) for name in _COLUMNS}
        return {name: value for name, value in values.items() if value is not None}

    def conditions(self) -> list[ColumnElement[bool]]:
        """The same, as conditions that the right index serves."""
        columns = self.columns()
        if columns.get("state") == "ended":
            # Nearly all have: no index of it is to be walked, hence the || ''.
            ended = jobs.c.state.concat("") == columns.pop("state")
            return [ended, *(jobs.c[name] == value for name, value in columns.items())]
        if "state" in columns:
            columns = {"outcome": ""} | columns  # that live jobs have none, the indexes know
        return [jobs.c[name] == value for name, value in columns.items()]

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


@dataclass(frozen=True)
class Count:
    """How many jobs fit; at_least says that there may be more."""

    number: int
    at_least: bool = False


def find_jobs(connection: Connection, filters: Filters, *, after: str | None, limit: int) -> Found:
    """The newest jobs that fit, or those that come after a place."""
    place = read_place(after) if after is not None else None
    limit = min(limit, MOST_ROWS)
    words, along_words = _route(connection, filters)
    if along_words:
        return _find_along_words(connection, filters, words, (place, limit))
    query = fitting(filters, select(*LISTED), words)
    if place:
        query = query.where(tuple_(jobs.c.created_ms, jobs.c.id) < tuple_(*map(literal, place)))
    views = [view_of_row(row) for row in connection.execute(query.limit(limit + 1))]
    return Found(views[:limit], cursor_of(views[limit - 1]) if len(views) > limit else None)


def count_jobs(connection: Connection, filters: Filters) -> Count:
    """How many fit: from the totals, where they know, else counted up to a bound."""
    if filters.known_to_totals():
        return Count(_total(connection, filters))
    words, along_words = _route(connection, filters)
    if along_words and (filters.columns() or len(words) > 1):
        return _count_along_words(connection, filters, words)
    rows = fitting(filters, select(jobs.c.id), words)
    query = of_word(filters, words[0]) if along_words else rows
    number = count_up_to(connection, query, COUNTED)
    return Count(number, at_least=number == COUNTED)


def _route(connection: Connection, filters: Filters) -> tuple[Sequence[str], bool]:
    """The words, the rarest first, and whether to go along it: not where rows are rarer still."""
    words, columns = filters.words(), filters.columns()
    if not words or (len(words) == 1 and not columns):
        return words, bool(words)
    counts = rarest_first(connection, filters, words)
    if not columns:
        return list(counts), True
    fit = count_up_to(connection, fitting(filters, select(jobs.c.id)), RARE)
    return list(counts), fit == RARE or fit > min(counts.values())


def _find_along_words(
    connection: Connection,
    filters: Filters,
    words: Sequence[str],
    page: tuple[Place | None, int],
) -> Found:
    """A page of jobs that have all these words. It may be short, and yet not the last."""
    place, limit = page
    bounds = Bounds(after=place, size=max(limit + 1, LOOKED), wanted=limit + 1)
    part = look(connection, filters, words, bounds)
    ids = [job for _, job in part.fitting[:limit]]
    views = read_jobs(connection, ids) if ids else {}
    place = part.fitting[limit - 1] if len(part.fitting) > limit else part.last
    found = [views[job] for job in ids if job in views]
    return Found(found, place_text(*place) if place else None)


def _count_along_words(connection: Connection, filters: Filters, words: Sequence[str]) -> Count:
    bounds = Bounds(size=LOOKED_TO_COUNT, wanted=LOOKED_TO_COUNT)
    part = look(connection, filters, words, bounds)
    return Count(len(part.fitting), at_least=part.last is not None)


def _total(connection: Connection, filters: Filters) -> int:
    totals = job_totals if filters.spider is None else job_spider_totals
    query = select(func.sum(totals.c.number))
    for name, value in filters.columns().items():
        query = query.where(totals.c[name] == value)
    return int(connection.execute(query).scalar() or 0)


def cursor_of(view: JobView) -> str:
    """The place in a listing right after a job."""
    return place_text(to_ms(view.created_at), view.id)


def fitting(filters: Filters, query: Select[Any], words: Sequence[str] = ()) -> Select[Any]:
    """A query of jobs, newest first, with the filters that are columns, and words to look up."""
    query = query.where(*filters.conditions())
    if filters.since:
        query = query.where(jobs.c.created_ms >= to_ms(filters.since))
    if filters.until:
        query = query.where(jobs.c.created_ms < to_ms(filters.until))
    query = query.where(*having(words, jobs.c.created_ms, jobs.c.id))
    return query.order_by(jobs.c.created_ms.desc(), jobs.c.id.desc())
