"""Every filter, and filters together, on a history of some parts: against plain Python."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from skitter.jobs import listing, word_walk
from skitter.jobs.rows import words_of, words_of_job, write_job
from skitter.jobs.view import Figures, JobView
from skitter.store import Store

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from sqlalchemy import Connection

BEGUN = datetime(2026, 1, 1, tzinfo=UTC)
NUMBER = 250


def history() -> list[JobView]:
    """Newest first. Some share their time, so that ids decide."""
    draw = random.Random(3)
    views = []
    for number in range(NUMBER):
        created = BEGUN + timedelta(seconds=number // 3)
        live = number % 11 == 0
        views.append(
            JobView(
                id=f"job-{draw.randrange(10**9):09}",
                project=draw.choice("pq"),
                spider=draw.choice(("shop", "quotes", "news")),
                args={"country": draw.choice(("tn", "de"))},
                labels={"team": draw.choice(("red", "blue")), "n": str(number % 90)},
                attrs={},
                state=draw.choice(("queued", "running")) if live else "ended",
                outcome="" if live else draw.choice(("finished", "failed")),
                priority=0,
                version=2,
                created_at=created,
                ended_at=None if live else created,
                expires_at=None,
                figures=Figures(),
            )
        )
    return sorted(views, key=lambda view: (view.created_at, view.id), reverse=True)


@pytest.fixture
async def store(store_url: str) -> AsyncIterator[Store]:
    async with await Store.open(store_url) as opened:
        yield opened


@pytest.fixture
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


FILTERS: dict[str, dict[str, Any]] = {
    "all": {},
    "spider": {"spider": "shop"},
    "two columns": {"spider": "shop", "outcome": "failed"},
    "three columns": {"project": "q", "spider": "news", "outcome": "finished"},
    "ended": {"state": "ended"},
    "ended of a spider": {"state": "ended", "spider": "shop"},
    "running": {"state": "running"},
    "running of a project": {"state": "running", "project": "p"},
    "running with a label": {"state": "running", "label": ("team", "red")},
    "running with an outcome": {"state": "running", "outcome": "failed"},
    "spider and times": {"spider": "shop", "since": BEGUN + timedelta(seconds=30)},
    "nobody's spider with a label": {"spider": "nobody", "label": ("team", "red")},
    "label": {"label": ("team", "red")},
    "rare label": {"label": ("n", "17")},
    "label and column": {"label": ("team", "red"), "spider": "news"},
    "words": {"text": "shop tn"},
    "words and label": {"text": "tn shop", "label": ("team", "blue"), "project": "p"},
    "times": {"since": BEGUN + timedelta(seconds=20), "until": BEGUN + timedelta(seconds=60)},
    "word and times": {"text": "quotes", "since": BEGUN + timedelta(seconds=40)},
    "nothing": {"text": "red herring"},
}


def fits(view: JobView, filters: dict[str, Any]) -> bool:
    columns = ("state", "outcome", "spider", "project")
    if any(getattr(view, name) != filters[name] for name in columns if name in filters):
        return False
    name, value = filters.get("label", ("", ""))
    if name and view.labels.get(name) != value:
        return False
    if not set(words_of(filters.get("text", ""))) <= words_of_job(view):
        return False
    until = filters.get("until", datetime.max.replace(tzinfo=UTC))
    return bool(filters.get("since", BEGUN) <= view.created_at < until)


def pages(filters: listing.Filters, limit: int) -> Callable[[Connection], list[str]]:
    def read(connection: Connection) -> list[str]:
        found, after = [], None
        while True:
            page = listing.find_jobs(connection, filters, after=after, limit=limit)
            assert len(page.jobs) <= limit
            found += [view.id for view in page.jobs]
            if page.next is None:
                return found
            after = page.next

    return read


@pytest.mark.parametrize("kind", ["sqlite", "postgres"], indirect=True)
async def test_pages_hold_what_plain_python_finds(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    views = history()

    def fill(connection: Connection) -> None:
        for view in views:
            write_job(connection, view, read_ms=1)

    await store.write(fill)
    for name, given in FILTERS.items():
        filters = listing.Filters(**given)
        wanted = [view.id for view in views if fits(view, given)]
        assert await store.read(pages(filters, 50)) == wanted, name
        count = partial(listing.count_jobs, filters=filters)
        assert await store.read(count) == listing.Count(len(wanted)), name
        with monkeypatch.context() as small:  # parts, and walks that end before a page is full
            small.setattr(listing, "LOOKED", 11)
            small.setattr(listing, "LOOKED_TO_COUNT", 20)
            for module in (word_walk, listing):
                small.setattr(module, "RARE", 10)
            assert await store.read(pages(filters, 10)) == wanted, name
            short = await store.read(count)
            assert short.at_least or short.number == len(wanted), name
            assert short.number <= len(wanted), name


@pytest.mark.parametrize("kind", ["sqlite", "postgres"], indirect=True)
async def test_counts_with_a_bound_say_that_there_may_be_more(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing, "COUNTED", 100)
    monkeypatch.setattr(listing, "LOOKED_TO_COUNT", 100)
    for module in (word_walk, listing):
        monkeypatch.setattr(module, "RARE", 100)

    def fill(connection: Connection) -> None:
        for view in history():
            write_job(connection, view, read_ms=1)

    await store.write(fill)

    async def count(**given: Any) -> listing.Count:
        return await store.read(partial(listing.count_jobs, filters=listing.Filters(**given)))

    bounded = listing.Count(100, at_least=True)
    assert await count(since=BEGUN) == bounded
    assert await count(text="nothing job") == listing.Count(0)
    assert await count(text="job") == bounded
    newest = history()[:100]
    ended = sum(view.ended for view in newest)
    assert await count(text="job", state="ended") == listing.Count(ended, at_least=True)
    assert await count() == listing.Count(NUMBER)
