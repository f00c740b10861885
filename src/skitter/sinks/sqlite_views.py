"""The views of SQLite; see views.py.

SQLite's values have types of their own, so a value that is not of its column's type is shown as it
is. The names in the statements are identifiers by their form, which shape.py sees to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from skitter.sinks.views import ORIGINS, REST, merged, tell_changes, tell_failure, view_name

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping

    from skitter.sinks.shape import Shape

_KNOWN = "SELECT name, type FROM item_columns WHERE kind = ? ORDER BY position"
_TAKEN = "SELECT 1 FROM sqlite_master WHERE lower(name) = ?"
_NOTE = "INSERT OR REPLACE INTO item_columns (kind, name, type, position) VALUES (?, ?, ?, ?)"
_NUMBER = (
    "CASE WHEN {value} GLOB '*[0-9]*' AND {value} NOT GLOB '*[^-+.0-9eE]*'"
    " THEN CAST({value} AS {type}) ELSE {value} END"
)


def make_view(connection: sqlite3.Connection, shape: Shape) -> None:
    """Make a kind's view, or add to it what its class declares now."""
    known: dict[str, str] = dict(connection.execute(_KNOWN, (shape.kind,)))
    columns, name = merged(known, shape), view_name(shape.kind)
    if columns == known:
        return
    if not known and connection.execute(_TAKEN, (name,)).fetchone():
        tell_failure(shape, f"the name {name} is taken")
        return
    tell_changes(shape, known, columns)
    rows = [(shape.kind, *column, at) for at, column in enumerate(columns.items())]
    connection.executemany(_NOTE, rows)
    connection.execute(f'DROP VIEW IF EXISTS "{name}"')
    connection.execute(f'CREATE VIEW "{name}" AS {_select(shape.kind, columns)}')


def _select(kind: str, columns: Mapping[str, str]) -> str:
    paths = ", ".join(f"'$.\"{name}\"'" for name in columns)
    parts = [f"{name} AS _{name}" for name in ORIGINS]
    parts.append(f"json_remove(data, {paths}) AS {REST}")
    parts += [f'{_value(name, type_)} AS "{name}"' for name, type_ in columns.items()]
    quoted = kind.replace("'", "''")
    return f"SELECT {', '.join(parts)} FROM items WHERE kind = '{quoted}'"  # noqa: S608 - see above


def _value(name: str, kind: str) -> str:
    path = f"'$.\"{name}\"'"
    if kind == "json":
        return f"data -> {path}"
    value = f"data ->> {path}"
    if kind in ("numeric", "integer"):
        return _NUMBER.format(value=f"({value})", type=kind.upper())
    return value
