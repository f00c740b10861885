"""Items in PostgreSQL: `postgresql://user:password@host/database?table=items`.

Puts that wait are gathered into one transaction: COPY into a temporary table, then one upsert by
id, sorted, so that two writers cannot wait for each other in a ring. The number that keeps the
order of arrival is drawn while they are copied. A trigger keeps what changed. A connection that
fails is thrown away, and the next commit makes a new one: while the server is away, `put` says so
and is to be tried again.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from skitter.errors import SinkError, SinkRefused, UnknownSink
from skitter.masking import mask_text
from skitter.sinks import postgres_rows
from skitter.sinks.extras import extra
from skitter.sinks.gathering import Gathering
from skitter.sinks.postgres_views import Views
from skitter.sinks.views import Declared

with extra("postgres", what="The sink postgresql://"):
    import psycopg

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from skitter.sinks.item import Item
    from skitter.sinks.rows import Row

CONNECT_S, COMMIT_S = 10, 120
# Classes of SQLSTATE that are about what is in the rows: data, constraints, limits.
_ABOUT_VALUES = ("22", "23", "54")


class PostgresSink:
    """A table of items in a database that any number of processes on any machines write to."""

    def __init__(self, url: str, *, table: str) -> None:
        self.name = mask_text(url)
        self._url = url
        self._statements = postgres_rows.Statements(table)
        self._views = Views(table)
        self._declared = Declared()
        self._gathering = Gathering(self.name, self._commit)
        self._connection: psycopg.AsyncConnection[Any] | None = None

    @classmethod
    def from_url(cls, url: str) -> Self:
        address, table = postgres_rows.parse_url(url)
        _check(address)
        return cls(address, table=table)

    @property
    def commits(self) -> int:
        """How many transactions there were; puts at the same time share one."""
        return self._gathering.commits

    async def open(self) -> None:
        """Connect, and make the table where it is missing."""
        if not self._gathering.is_open:
            try:
                await self._connected()
            except psycopg.Error as error:
                raise explain(self.name, error) from error
            self._gathering.open()

    async def put(self, items: Sequence[Item]) -> None:
        """Store items in a transaction that the server has synced when this returns."""
        self._declared.notice(items)
        await self._gathering.put(items)

    async def close(self) -> None:
        """Commit what waits, and disconnect."""
        await self._gathering.close()
        await self._disconnect()

    async def _commit(self, rows: list[Row]) -> None:
        try:
            async with asyncio.timeout(COMMIT_S):
                await self._write(rows)
        except (psycopg.Error, OSError, TimeoutError) as error:
            found = explain(self.name, error)
            if not isinstance(found, SinkRefused):
                await self._disconnect()
            raise found from error

    async def _write(self, rows: list[Row]) -> None:
        connection = await self._connected()
        await self._make_views(connection)
        async with connection.transaction(), connection.cursor() as cursor:
            async with cursor.copy(self._statements.copy) as copy:
                for row in rows:
                    await copy.write_row(postgres_rows.staged(row))
            await cursor.execute(self._statements.upsert)

    async def _make_views(self, connection: psycopg.AsyncConnection[Any]) -> None:
        shapes = self._declared.take()
        try:
            for shape in shapes:
                await self._views.make(connection, shape)
        except BaseException:  # the connection is gone: on the next one, then
            self._declared.give_back(shapes)
            raise

    async def _connected(self) -> psycopg.AsyncConnection[Any]:
        """The connection, made anew if there is none that works."""
        if self._connection is None or self._connection.closed:
            connection = await psycopg.AsyncConnection.connect(
                self._url,
                autocommit=True,
                connect_timeout=CONNECT_S,
                application_name="skitter",
                prepare_threshold=None,
            )
            try:
                await self._prepare(connection)
            except BaseException:
                await connection.close()
                raise
            self._connection = connection
        return self._connection

    async def _prepare(self, connection: psycopg.AsyncConnection[Any]) -> None:
        marked = await (await connection.execute(self._statements.is_marked)).fetchone()
        if not (marked and marked[0]):
            async with connection.transaction():
                for statement in self._statements.schema:
                    await connection.execute(statement)
        for statement in self._statements.session:
            await connection.execute(statement)

    async def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(psycopg.Error, OSError):
                await connection.close()


def _check(address: str) -> None:
    try:
        psycopg.conninfo.conninfo_to_dict(address)
    except psycopg.Error as error:
        reason = mask_text(str(error).strip())
        raise UnknownSink(
            url=mask_text(address), reason=reason, known=postgres_rows.KNOWN
        ) from error


def explain(name: str, error: Exception) -> SinkError:
    """An error of the driver's as one of a sink's."""
    state = getattr(error, "sqlstate", None) or ""
    about_values = state[:2] in _ABOUT_VALUES or (
        not state and isinstance(error, psycopg.DataError | psycopg.ProgrammingError)
    )
    reason = mask_text(str(error).strip() or type(error).__name__)
    return (SinkRefused if about_values else SinkError)(sink=name, reason=reason)
