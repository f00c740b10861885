"""Items and their history out of PostgreSQL, while others may write there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skitter.masking import mask_text
from skitter.sinks import postgres_rows
from skitter.sinks.extras import extra
from skitter.sinks.postgres import CONNECT_S, explain
from skitter.sinks.stored import Change, Stored

with extra("postgres", what="The sink postgresql://"):
    import psycopg
    from psycopg import sql

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skitter.sinks.paging import Beginning
    from skitter.sinks.stored import Wanted

_SELECT = sql.SQL("""
    SELECT seq, id, job, spider, kind, url, coalesce(exact::text, data::text),
      coalesce(exact_attrs::text, attrs::text), worker,
      coalesce(to_char(fetched_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), ''), parser,
      to_char(first_seen AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
      to_char(last_seen AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), first_job,
      to_char(changed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
    FROM {table} WHERE seq > %(after)s {filters} ORDER BY seq LIMIT %(count)s
""")
_FILTERS = {
    "id": sql.SQL("AND id = %(id)s"),
    "job": sql.SQL("AND job = %(job)s"),
    "spider": sql.SQL("AND spider = %(spider)s"),
    "kind": sql.SQL("AND kind = %(kind)s"),
    "since": sql.SQL("AND last_seen >= %(since)s::timestamptz"),
    "until": sql.SQL("AND last_seen < %(until)s::timestamptz"),
    "changed_since": sql.SQL("AND changed_at >= %(changed_since)s::timestamptz"),
}
_CHANGES = sql.SQL("""
    SELECT seq, item, to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), job,
      before, after
    FROM {history} WHERE seq > %(after)s {filters} ORDER BY seq LIMIT %(count)s
""")
_CHANGE_FILTERS = {
    "item": sql.SQL("AND item = %(item)s"),
    "job": sql.SQL("AND job = %(job)s"),
    "since": sql.SQL("AND at >= %(since)s::timestamptz"),
}


def read_table(url: str, wanted: Wanted, beginning: Beginning) -> Iterator[tuple[str, Stored]]:
    """The items of a table in the order in which they came, each with its place in that order."""
    address, table = postgres_rows.parse_url(url)
    given = wanted.given()
    filters = sql.SQL(" ").join(_FILTERS[name] for name in given)
    statement = _SELECT.format(table=postgres_rows.named(table), filters=filters)
    for row in _rows(address, statement, given, beginning):
        found = Stored.of_row(row[1:])
        if wanted.holds(found):
            yield str(row[0]), found


def read_table_history(
    url: str, given: dict[str, Any], beginning: Beginning
) -> Iterator[tuple[str, Change]]:
    """The changes of a table's items in the order in which they came."""
    address, table = postgres_rows.parse_url(url)
    history = postgres_rows.named(postgres_rows.beside(table, "history"))
    filters = sql.SQL(" ").join(_CHANGE_FILTERS[name] for name in given)
    statement = _CHANGES.format(history=history, filters=filters)
    for place, *change in _rows(address, statement, given, beginning):
        yield str(place), Change(*change)


def _rows(
    address: str, statement: sql.Composed, given: dict[str, Any], beginning: Beginning
) -> Iterator[tuple[Any, ...]]:
    values = given | {"after": int(beginning.after or 0), "count": beginning.at_once}
    try:
        with psycopg.connect(address, autocommit=True, connect_timeout=CONNECT_S) as connection:
            while rows := connection.execute(statement, values).fetchall():
                yield from rows
                if len(rows) < beginning.at_once:
                    return
                values["after"] = rows[-1][0]
    except psycopg.Error as error:
        raise explain(mask_text(address), error) from error
