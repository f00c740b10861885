"""The store: queries on a SQL database, each in a thread and in a transaction of its own.

A query is a function of a connection. It runs again where the database was away or locked, in rare
cases after its first commit did stand: a query that writes must bear that, as an upsert does.
"""

from __future__ import annotations

import asyncio
import random
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Self, TypeVar

import structlog
from sqlalchemy.exc import DBAPIError, IntegrityError, OperationalError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from skitter.masking import mask_text
from skitter.service_errors import StoreError
from skitter.store.engines import THREADS, WRITING, open_engine
from skitter.store.migrating import is_current, migrate

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Connection, Engine

log = structlog.get_logger(__name__)

T = TypeVar("T")
PATIENCE_S = 30.0


class Store:
    """One process's way to what is kept. Open it with `open`, close it when done."""

    def __init__(self, engine: Engine, *, name: str, patience_s: float = PATIENCE_S) -> None:
        self.name = name
        self._engine = engine
        self._patience_s = patience_s
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="store")
        # SQLite has one writer at a time: better that ours wait here than poll for its lock.
        self._one = asyncio.Semaphore(1 if engine.dialect.name == "sqlite" else THREADS)

    @classmethod
    async def open(cls, url: str, *, patience_s: float = PATIENCE_S) -> Store:
        """Connect, and bring the tables up to date; raises StoreError with the way out."""
        engine = await asyncio.to_thread(open_engine, url)
        store = cls(engine, name=mask_text(url), patience_s=patience_s)
        try:
            if not await store.read(lambda found: is_current(found, store=store.name)):
                await store.write(lambda found: migrate(found, store=store.name))
        except BaseException:
            await store.close()
            raise
        return store

    @property
    def kind(self) -> str:
        """`sqlite` or `postgresql`."""
        return self._engine.dialect.name

    async def close(self) -> None:
        """Finish what was begun, and let go of everything."""
        await asyncio.to_thread(self._threads.shutdown)
        self._engine.dispose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def read(self, query: Callable[[Connection], T]) -> T:
        """What a query finds, in one transaction."""
        return await self._run(query, writing=False)

    async def write(self, query: Callable[[Connection], T]) -> T:
        """Run a query that writes: all of it stands when this returns, or nothing does."""
        async with self._one:
            return await self._run(query, writing=True)

    async def _run(self, query: Callable[[Connection], T], *, writing: bool) -> T:
        loop = asyncio.get_running_loop()
        work = loop.run_in_executor(self._threads, self._persist, query, writing)
        return await asyncio.shield(work)  # a transaction that runs is not left alone half-way

    def _persist(self, query: Callable[[Connection], T], writing: bool) -> T:  # noqa: FBT001
        deadline, pause_s = time.monotonic() + self._patience_s, 0.05
        while True:
            try:
                return self._attempt(query, writing=writing)
            except IntegrityError:
                raise  # the query's own affair: a row that stands already
            except (SQLAlchemyError, OSError) as error:
                if not _passing(error) or time.monotonic() > deadline:
                    raise StoreError(store=self.name, reason=_reason(error)) from error
                log.warning("the store is away", store=self.name, reason=_reason(error))
            time.sleep(pause_s * random.uniform(0.5, 1.5))
            pause_s = min(2.0, pause_s * 2)

    def _attempt(self, query: Callable[[Connection], T], *, writing: bool) -> T:
        engine = self._engine.execution_options(**{WRITING: writing})
        with engine.begin() as connection:
            return query(connection)


def _passing(error: Exception) -> bool:
    """Whether to try again may help: the database is away, locked, or took another's side."""
    if isinstance(error, PoolTimeout):
        return True
    if not isinstance(error, DBAPIError):
        return False
    text = str(error.orig).lower()
    if isinstance(error, OperationalError):
        lasting = ("unable to open", "readonly", "no such", "disk", "full", "malformed",
                   "authentication", "does not exist", "role ")  # fmt: skip
        return not any(word in text for word in lasting)
    return error.connection_invalidated or "deadlock" in text


def _reason(error: Exception) -> str:
    text = str(error.orig) if isinstance(error, DBAPIError) else str(error)
    return mask_text(" ".join(text.split()))[:500]
