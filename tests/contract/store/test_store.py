"""A store is made and brought up to date when it is opened, by however many at once."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import insert, inspect, text

import skitter.store.tables_access
import skitter.store.tables_schedules  # noqa: F401 - the tables of both count too
from skitter.jobs.listing import Count, Filters, count_jobs
from skitter.jobs.rows import write_job
from skitter.jobs.view import Figures, JobView
from skitter.service_errors import StoreError, StoreNewer
from skitter.store import Store
from skitter.store.migrating import FOLDER, head, version
from skitter.store.tables import metadata
from skitter.store.tables_jobs import job_totals

if TYPE_CHECKING:
    from sqlalchemy import Connection

OPENER = """
import asyncio, sys
from skitter.store import Store
async def main():
    await (await Store.open(sys.argv[1])).close()
asyncio.run(main())
"""


async def test_tables_are_those_that_the_steps_make(store: Store) -> None:
    def columns(connection: Connection) -> dict[str, set[str]]:
        found = inspect(connection)
        names = set(found.get_table_names()) - {"alembic_version"}
        return {name: {each["name"] for each in found.get_columns(name)} for name in names}

    assert await store.read(columns) == {
        name: set(table.columns.keys()) for name, table in metadata.tables.items()
    }
    assert await store.read(version) == head()


async def test_indexes_are_those_that_the_steps_make(store: Store) -> None:
    def indexes(connection: Connection) -> set[str]:
        found = inspect(connection)
        return {
            str(index["name"])
            for name in found.get_table_names()
            for index in found.get_indexes(name)
        }

    wanted = {index.name for table in metadata.tables.values() for index in table.indexes}
    assert await store.read(indexes) == wanted


async def test_jobs_of_before_are_in_the_totals_by_spider(store_url: str) -> None:
    def go_back(connection: Connection) -> None:
        config = Config()
        config.set_main_option("script_location", str(FOLDER))
        config.attributes["connection"] = connection
        command.downgrade(config, "0003")

    async with await Store.open(store_url) as store:
        for n in range(3):
            view = ended_job(f"j{n}", spider="shop" if n else "news")
            await store.write(partial(write_job, view=view, read_ms=1))
        await store.write(go_back)
    async with await Store.open(store_url) as store:
        found = await store.read(lambda found: count_jobs(found, Filters(spider="shop")))
        assert found == Count(2)


def ended_job(job: str, *, spider: str) -> JobView:
    now = datetime.now(UTC)
    return JobView(
        id=job, project="p", spider=spider, args={}, labels={}, attrs={}, state="ended",
        outcome="finished", priority=0, version=1, created_at=now, ended_at=now, expires_at=None,
        figures=Figures(),
    )  # fmt: skip


async def test_many_processes_open_a_new_one_at_once(store_url: str) -> None:
    command = [sys.executable, "-c", OPENER, store_url]
    openers = [subprocess.Popen(command, stderr=subprocess.PIPE) for _ in range(4)]
    for opener in openers:
        _, trouble = opener.communicate(timeout=90)
        assert opener.returncode == 0, trouble.decode()


async def test_one_of_a_newer_skitter_is_refused(store_url: str) -> None:
    async with await Store.open(store_url) as store:
        newer = text("UPDATE alembic_version SET version_num = '9999'")
        await store.write(lambda found: found.execute(newer))
    with pytest.raises(StoreNewer, match="9999"):
        await Store.open(store_url)


async def test_a_write_that_fails_leaves_nothing(store: Store) -> None:
    def fail(connection: Connection) -> None:
        row = {"project": "p", "state": "ended", "outcome": "finished", "number": 1}
        connection.execute(insert(job_totals).values(row))
        raise ValueError("half-way")

    with pytest.raises(ValueError, match="half-way"):
        await store.write(fail)
    assert await store.read(lambda found: found.execute(job_totals.select()).all()) == []


async def test_many_writers_at_once_lose_nothing(store: Store) -> None:
    row = {"project": "p", "state": "ended", "outcome": "finished", "number": 0}
    await store.write(lambda found: found.execute(insert(job_totals).values(row)))
    more = job_totals.update().values(number=job_totals.c.number + 1)
    await asyncio.gather(*(store.write(lambda found: found.execute(more)) for _ in range(50)))
    total = await store.read(lambda found: found.execute(job_totals.select()).one())
    assert total.number == 50


async def test_what_cannot_be_opened_says_why() -> None:
    with pytest.raises(StoreError, match=r"/proc/nowhere.*\n.*store\.url"):
        await Store.open("sqlite:/proc/nowhere/kept.db")


async def test_a_password_is_not_told() -> None:
    with pytest.raises(StoreError) as trouble:
        await Store.open("postgresql://me:sesame@127.0.0.1:9/none", patience_s=0)
    assert "sesame" not in str(trouble.value)
