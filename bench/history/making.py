"""A history of ended jobs, written in bulk with the values that the service itself would write.

Row by row, most of the time would go to keys that land all over an index. So rows are put aside
first, go to their tables in the order of their keys, and other indexes are made after, as one does
who restores a backup. What autovacuum does in time is done at the end.
"""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, cast

import psycopg
from sqlalchemy import BigInteger, Column, MetaData, String, Table, func, insert, select, text

from skitter.jobs.rows import job_values, words_of_job
from skitter.jobs.submission import Submission
from skitter.jobs.view import Figures, JobView
from skitter.store.tables_jobs import job_spider_totals, job_totals, job_words, jobs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection

    from skitter.store import Store

AT_ONCE = 10_000
BEGUN = datetime(2026, 1, 1, tzinfo=UTC)
OUTCOMES = ("finished",) * 90 + ("cancelled",) * 5 + ("failed",) * 3 + ("limit reached",) * 2

aside = Table(
    "words_aside",
    MetaData(),
    Column("word", String),
    Column("created_ms", BigInteger),
    Column("job", String),
)


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


async def fill(store: Store, url: str, count: int) -> list[str]:
    """Write a history; the ids, oldest first."""
    ids: list[str] = []
    await store.write(_begin)
    views = history(count)
    while batch := list(islice(views, AT_ONCE)):
        ids += [view.id for view in batch]
        await store.write(partial(_put_aside, views=batch))
    await store.write(_finish)
    if store.kind == "postgresql":
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("VACUUM ANALYZE")
    return ids


def _begin(connection: Connection) -> None:
    for table in (jobs, job_words):
        for index in table.indexes:
            index.drop(connection)
    aside.create(connection)


def _put_aside(connection: Connection, views: list[JobView]) -> None:
    rows = [job_values(view, read_ms=1) for view in views]
    connection.execute(insert(jobs), rows)
    words = (
        (word, row["created_ms"], view.id)
        for view, row in zip(views, rows, strict=True)
        for word in words_of_job(view)
    )
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql(f"INSERT INTO {aside.name} VALUES (?, ?, ?)", list(words))
        return
    driver = cast("psycopg.Connection", connection.connection.driver_connection)
    with driver.cursor() as cursor, cursor.copy(f"COPY {aside.name} FROM STDIN".encode()) as copy:
        for row in words:
            copy.write_row(row)


def _finish(connection: Connection) -> None:
    """Words to their table, indexes, and totals."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SET LOCAL statement_timeout = 0"))
    rows = select(aside).order_by(*aside.columns)
    connection.execute(insert(job_words).from_select(list(aside.columns.keys()), rows))
    aside.drop(connection)
    for table in (jobs, job_words):
        for index in table.indexes:
            index.create(connection)
    for totals in (job_totals, job_spider_totals):
        names = [column.name for column in totals.primary_key]
        counted = select(*(jobs.c[name] for name in names), func.count())
        counted = counted.group_by(*(jobs.c[name] for name in names))
        connection.execute(insert(totals).from_select([*names, "number"], counted))
