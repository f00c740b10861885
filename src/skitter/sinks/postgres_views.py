"""The views of PostgreSQL; see views.py.

A value that is not of its column's type is NULL there, and in `items.data` as it is. New columns
stand after the others, so that a view can be replaced while others depend on it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skitter.sinks.extras import extra
from skitter.sinks.postgres_rows import LOCK, beside, named, names_beside
from skitter.sinks.views import ORIGINS, REST, merged, tell_changes, tell_failure, view_name

with extra("postgres", what="The sink postgresql://"):
    import psycopg
    from psycopg import sql

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skitter.sinks.shape import Shape

    Connection = psycopg.AsyncConnection[Any]

_KNOWN = sql.SQL("SELECT name, type FROM {columns} WHERE kind = %s ORDER BY position")
_TAKEN = sql.SQL("SELECT to_regclass(%s) IS NOT NULL")
_NOTE = sql.SQL("""
    INSERT INTO {columns} (kind, name, type, position) VALUES (%s, %s, %s, %s)
    ON CONFLICT (kind, name) DO UPDATE SET type = excluded.type
""")
_VIEW = sql.SQL("CREATE OR REPLACE VIEW {view} AS SELECT {parts} FROM {table} WHERE kind = {kind}")
_VALUES = {
    "text": sql.SQL("data ->> {name}"),
    "json": sql.SQL("data -> {name}"),
    "numeric": sql.SQL(
        "CASE WHEN data ->> {name} ~"
        " '^[-+]?[0-9]{{1,99}}([.][0-9]{{1,99}})?([eE][-+]?[0-9]{{1,2}})?$'"
        " THEN (data ->> {name})::numeric END"
    ),
    "integer": sql.SQL(
        "CASE WHEN data ->> {name} ~ '^[-+]?[0-9]{{1,18}}$' THEN (data ->> {name})::bigint END"
    ),
    "boolean": sql.SQL(
        "CASE jsonb_typeof(data -> {name}) WHEN 'boolean' THEN (data ->> {name})::boolean END"
    ),
    "timestamptz": sql.SQL("{time}(data ->> {name})"),
}


class Views:
    """The views beside one table."""

    def __init__(self, table: str) -> None:
        self._table = table
        self._names = names_beside(table)
        self._known_statement = _KNOWN.format(**self._names)

    async def make(self, connection: Connection, shape: Shape) -> None:
        """Make a kind's view, or add to it what its class declares now; tells of a failure."""
        try:
            known = await self._known(connection, shape)
            if merged(known, shape) != known:
                async with connection.transaction():
                    await connection.execute(LOCK)
                    await self._make(connection, shape)
        except psycopg.Error as error:
            if connection.closed:
                raise
            tell_failure(shape, error)

    async def _known(self, connection: Connection, shape: Shape) -> dict[str, str]:
        rows = await connection.execute(self._known_statement, (shape.kind,))
        return dict(await rows.fetchall())

    async def _make(self, connection: Connection, shape: Shape) -> None:
        known = await self._known(connection, shape)
        columns, name = merged(known, shape), beside(self._table, view_name(shape.kind))
        taken = await (await connection.execute(_TAKEN, (named(name).as_string(),))).fetchone()
        if not known and taken and taken[0]:
            tell_failure(shape, f"the name {name} is taken")
            return
        tell_changes(shape, known, columns)
        for at, (column, kind) in enumerate(columns.items()):
            values = (shape.kind, column, kind, at)
            await connection.execute(_NOTE.format(**self._names), values)
        if any(columns[column] != kind for column, kind in known.items()):
            await connection.execute(sql.SQL("DROP VIEW {}").format(named(name)))
        await connection.execute(self._view(name, shape.kind, columns))

    def _view(self, name: str, kind: str, columns: Mapping[str, str]) -> sql.Composed:
        literals = sql.SQL(", ").join(map(sql.Literal, columns))
        rest = sql.SQL("data - ARRAY[{}]::text[] AS {}").format(literals, sql.Identifier(REST))
        parts = [_as(sql.Identifier(origin), f"_{origin}") for origin in ORIGINS]
        values = [_as(self._value(*column), column[0]) for column in columns.items()]
        return _VIEW.format(
            view=named(name),
            parts=sql.SQL(", ").join([*parts, rest, *values]),
            table=self._names["table"],
            kind=sql.Literal(kind),
        )

    def _value(self, name: str, kind: str) -> sql.Composed:
        return _VALUES[kind].format(name=sql.Literal(name), time=self._names["time"])


def _as(value: sql.Composable, name: str) -> sql.Composed:
    return sql.SQL("{} AS {}").format(value, sql.Identifier(name))
