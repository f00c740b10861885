"""The table of items in PostgreSQL: its form, and the statements that write and read it."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlencode

from skitter.errors import UnknownSink
from skitter.masking import mask_text
from skitter.sinks.database_json import searchable_text
from skitter.sinks.extras import extra

with extra("postgres", what="The sink postgresql://"):
    from psycopg import sql

if TYPE_CHECKING:
    from skitter.sinks.rows import Row
    from skitter.sinks.stored import Wanted

DEFAULT_TABLE = "items"
KNOWN = "postgresql://user:password@host:5432/database?table=items"
LONGEST_NAME = 56  # PostgreSQL cuts names at 63, and the order's is longer than the table's
STAGING = sql.Identifier("pg_temp", "skitter_staging")

# data is what can be searched; exact is there only where JSONB cannot hold data as it is.
_TABLE = sql.SQL("""
    CREATE TABLE IF NOT EXISTS {table} (
      id text PRIMARY KEY,
      seq bigint NOT NULL,
      job text NOT NULL,
      spider text NOT NULL,
      kind text NOT NULL,
      url text NOT NULL,
      data jsonb NOT NULL,
      exact json,
      attrs jsonb NOT NULL,
      exact_attrs json,
      worker text NOT NULL,
      first_seen timestamptz NOT NULL,
      last_seen timestamptz NOT NULL
    )
""")
_SEQUENCE = sql.SQL("CREATE SEQUENCE IF NOT EXISTS {sequence} OWNED BY {table}.seq")
# Two processes that make one table at the same time would be in each other's way.
_LOCK = sql.SQL("SELECT pg_advisory_xact_lock(7236134)")
_INDEXES = (
    sql.SQL("CREATE UNIQUE INDEX IF NOT EXISTS {by_seq} ON {table} (seq)"),
    sql.SQL("CREATE INDEX IF NOT EXISTS {by_job} ON {table} (job, seq)"),
)
_STAGING = sql.SQL("""
    CREATE TEMPORARY TABLE skitter_staging (
      id text, seq bigint DEFAULT nextval({sequence_text}), job text,
      spider text, kind text, url text, data jsonb, exact json, attrs jsonb, exact_attrs json,
      worker text, seen timestamptz
    ) ON COMMIT DELETE ROWS
""")
# A commit is to be on the disk, whatever the server's default.
_SYNCED = sql.SQL("""
    SELECT set_config('synchronous_commit', 'on', false)
    WHERE current_setting('synchronous_commit') = 'off'
""")
_COPY = sql.SQL("""
    COPY {staging} (id, job, spider, kind, url, data, exact, attrs, exact_attrs, worker, seen)
    FROM STDIN
""")
_UPSERT = sql.SQL("""
    INSERT INTO {table} AS old (id, seq, job, spider, kind, url, data, exact, attrs, exact_attrs,
      worker, first_seen, last_seen)
    SELECT id, seq, job, spider, kind, url, data, exact, attrs, exact_attrs, worker, seen, seen
    FROM {staging} ORDER BY id
    ON CONFLICT (id) DO UPDATE SET
      job = excluded.job, spider = excluded.spider, kind = excluded.kind, url = excluded.url,
      data = excluded.data, exact = excluded.exact, attrs = excluded.attrs,
      exact_attrs = excluded.exact_attrs, worker = excluded.worker, last_seen = excluded.last_seen
""")
_SELECT = sql.SQL("""
    SELECT seq, id, job, spider, kind, url, coalesce(exact::text, data::text),
      coalesce(exact_attrs::text, attrs::text), worker,
      to_char(first_seen AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
      to_char(last_seen AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
    FROM {table} WHERE seq > %(after)s {filters} ORDER BY seq LIMIT %(count)s
""")
_FILTERS = {
    "job": sql.SQL("AND job = %(job)s"),
    "spider": sql.SQL("AND spider = %(spider)s"),
    "kind": sql.SQL("AND kind = %(kind)s"),
    "since": sql.SQL("AND last_seen >= %(since)s::timestamptz"),
}


class Statements:
    """The statements for one table, which may be named with its schema: `shop.items`."""

    def __init__(self, table: str) -> None:
        self._table = named(table)
        short = table.rpartition(".")[2]
        names = {
            "table": self._table,
            "sequence": named(f"{table}_order"),
            "sequence_text": sql.Literal(_as_text(f"{table}_order")),
            "staging": STAGING,
            "by_seq": sql.Identifier(f"{short}_seq"),
            "by_job": sql.Identifier(f"{short}_job"),
        }
        self.schema: tuple[sql.SQL | sql.Composed, ...] = (
            _LOCK,
            *(part.format(**names) for part in (_TABLE, _SEQUENCE, *_INDEXES)),
        )
        self.session: tuple[sql.SQL | sql.Composed, ...] = (_STAGING.format(**names), _SYNCED)
        self.copy = _COPY.format(**names)
        self.upsert = _UPSERT.format(**names)

    def select(self, wanted: Wanted) -> sql.Composed:
        """One page of what is wanted."""
        filters = sql.SQL(" ").join(_FILTERS[name] for name in wanted.given())
        return _SELECT.format(table=self._table, filters=filters)


def parse_url(url: str) -> tuple[str, str]:
    """A URL without `table`, which is not libpq's, and the table that it names."""
    address, _, query = url.partition("?")
    pairs = parse_qsl(query, keep_blank_values=True)
    table = dict(pairs).get("table") or DEFAULT_TABLE
    if len(table.rpartition(".")[2].encode()) > LONGEST_NAME:
        reason = f"its table's name is longer than {LONGEST_NAME} bytes"
        raise UnknownSink(url=mask_text(url), reason=reason, known=KNOWN)
    rest = urlencode([pair for pair in pairs if pair[0] != "table"])
    return f"{address}?{rest}" if rest else address, table


def named(table: str) -> sql.Identifier:
    return sql.Identifier(*table.split("."))


def staged(row: Row) -> tuple[str | None, ...]:
    """A row as the columns of COPY."""
    identity, job, spider, kind, url, data, attrs, worker, _, seen = row
    near, exact = searchable_text(data)
    near_attrs, exact_attrs = searchable_text(attrs)
    return identity, job, spider, kind, url, near, exact, near_attrs, exact_attrs, worker, seen


def _as_text(table: str) -> str:
    """The name as a function takes it that is given a table's name as text."""
    return ".".join('"{}"'.format(part.replace('"', '""')) for part in table.split("."))
