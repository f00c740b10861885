"""Items of a table in PostgreSQL that were not seen for long, deleted while others write there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skitter.masking import mask_text
from skitter.sinks import postgres_rows
from skitter.sinks.extras import extra
from skitter.sinks.postgres import CONNECT_S, explain

with extra("postgres", what="The sink postgresql://"):
    import psycopg
    from psycopg import sql

if TYPE_CHECKING:
    from skitter.sinks.paging import Beginning

_PATIENCE = sql.SQL("SET statement_timeout = '60s'")
# An item that another is writing just now is passed over: it is seen again, and nobody waits here
# for one who waits for us.
_FORGET = sql.SQL("""
    WITH part AS (
      SELECT id, seq FROM {table} WHERE seq > %(after)s ORDER BY seq LIMIT %(count)s
    ), old AS (
      SELECT id FROM {table} WHERE id IN (SELECT id FROM part)
        AND last_seen < %(before)s::timestamptz
      FOR UPDATE SKIP LOCKED
    ), gone AS (
      DELETE FROM {table} WHERE id IN (SELECT id FROM old) RETURNING id
    ), past AS (
      DELETE FROM {history} WHERE item IN (SELECT id FROM gone)
    )
    SELECT (SELECT count(*) FROM gone), count(*), max(seq) FROM part
""")


def forget_in_table(url: str, before: str, beginning: Beginning) -> tuple[int, str]:
    """Delete what a part of a table has that is older; how many, and where the part ends."""
    address, table = postgres_rows.parse_url(url)
    names = postgres_rows.names_beside(table)
    values = {"after": int(beginning.after or 0), "count": beginning.at_once, "before": before}
    try:
        with psycopg.connect(address, autocommit=True, connect_timeout=CONNECT_S) as connection:
            marked = connection.execute(postgres_rows.IS_MARKED.format(**names)).fetchone()
            if not (marked and marked[0]):
                return 0, ""
            connection.execute(_PATIENCE)
            found = connection.execute(_FORGET.format(**names), values).fetchone()
    except psycopg.Error as error:
        raise explain(mask_text(address), error) from error
    gone, looked, end = found or (0, 0, None)
    return gone, str(end) if looked == beginning.at_once else ""
