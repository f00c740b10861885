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

DEFAULT_TABLE = "items"
KNOWN = "postgresql://user:password@host:5432/database?table=items"
LONGEST_NAME = 48  # PostgreSQL cuts names at 63, and those beside the table's are longer
VERSION = "skitter items 2"
"""The tables' form, which a table has as its comment; earlier ones had none."""
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
# What came later: tables of earlier versions get it too.
_ADDED = sql.SQL("""
    ALTER TABLE {table}
      ADD COLUMN IF NOT EXISTS fetched_at timestamptz,
      ADD COLUMN IF NOT EXISTS parser text NOT NULL DEFAULT '',
      ADD COLUMN IF NOT EXISTS first_job text NOT NULL DEFAULT '',
      ADD COLUMN IF NOT EXISTS changed_at timestamptz NOT NULL DEFAULT now(),
      ADD COLUMN IF NOT EXISTS tracked text
""")
_SEQUENCE = sql.SQL("CREATE SEQUENCE IF NOT EXISTS {sequence} OWNED BY {table}.seq")
# Two processes that make one table at the same time would be in each other's way.
LOCK = sql.SQL("SELECT pg_advisory_xact_lock(7236134)")
_INDEXES = (
    sql.SQL("CREATE UNIQUE INDEX IF NOT EXISTS {by_seq} ON {table} (seq)"),
    sql.SQL("CREATE INDEX IF NOT EXISTS {by_job} ON {table} (job, seq)"),
)
# Kept as json: it takes any text that is JSON, where JSONB refuses some.
_HISTORY = sql.SQL("""
    CREATE TABLE IF NOT EXISTS {history} (
      seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      item text NOT NULL,
      at timestamptz NOT NULL,
      job text NOT NULL,
      before json NOT NULL,
      after json NOT NULL
    )
""")
_HISTORY_INDEX = sql.SQL("CREATE INDEX IF NOT EXISTS {by_item} ON {history} (item, seq)")
# A trigger sees the row that is really replaced, whoever else writes it at the same time.
_NOTE = sql.SQL("""
    CREATE OR REPLACE FUNCTION {note}() RETURNS trigger LANGUAGE plpgsql AS $body$
    BEGIN
      INSERT INTO {history} (item, at, job, before, after)
      VALUES (NEW.id, NEW.last_seen, NEW.job, OLD.tracked::json, NEW.tracked::json);
      RETURN NULL;
    END $body$
""")
_TRIGGER = sql.SQL("""
    CREATE OR REPLACE TRIGGER {trigger} AFTER UPDATE ON {table}
    FOR EACH ROW WHEN (NEW.tracked <> OLD.tracked) EXECUTE FUNCTION {note}()
""")
_COLUMNS = sql.SQL("""
    CREATE TABLE IF NOT EXISTS {columns} (
      kind text NOT NULL, name text NOT NULL, type text NOT NULL, position integer NOT NULL,
      PRIMARY KEY (kind, name)
    )
""")
_TIME = sql.SQL("""
    CREATE OR REPLACE FUNCTION {time}(written text) RETURNS timestamptz
    LANGUAGE plpgsql STABLE AS $body$
    BEGIN
      RETURN written::timestamptz;
    EXCEPTION WHEN OTHERS THEN
      RETURN NULL;
    END $body$
""")
_MARK = sql.SQL("COMMENT ON TABLE {table} IS {version}")
IS_MARKED = sql.SQL("SELECT obj_description(to_regclass({table_text})) = {version}")
_STAGING = sql.SQL("""
    CREATE TEMPORARY TABLE skitter_staging (
      id text, seq bigint DEFAULT nextval({sequence_text}), job text,
      spider text, kind text, url text, data jsonb, exact json, attrs jsonb, exact_attrs json,
      worker text, fetched_at timestamptz, parser text, tracked text, seen timestamptz
    ) ON COMMIT DELETE ROWS
""")
# A commit is to be on the disk, whatever the server's default.
_SYNCED = sql.SQL("""
    SELECT set_config('synchronous_commit', 'on', false)
    WHERE current_setting('synchronous_commit') = 'off'
""")
# A batch is sorted in memory, not on the disk.
_ROOM = sql.SQL("SET work_mem = '32MB'")
_COPY = sql.SQL("""
    COPY {staging} (id, job, spider, kind, url, data, exact, attrs, exact_attrs, worker, fetched_at,
      parser, tracked, seen)
    FROM STDIN
""")
# Without tracked fields on either side, any field that differs is a change.
_UPSERT = sql.SQL("""
    INSERT INTO {table} AS old (id, seq, job, spider, kind, url, data, exact, attrs, exact_attrs,
      worker, fetched_at, parser, tracked, first_seen, last_seen, first_job, changed_at)
    SELECT id, seq, job, spider, kind, url, data, exact, attrs, exact_attrs,
      worker, fetched_at, parser, tracked, seen, seen, job, seen
    FROM {staging} ORDER BY id
    ON CONFLICT (id) DO UPDATE SET
      changed_at = CASE WHEN coalesce(excluded.tracked <> old.tracked, excluded.data <> old.data)
        THEN excluded.last_seen ELSE old.changed_at END,
      job = excluded.job, spider = excluded.spider, kind = excluded.kind, url = excluded.url,
      data = excluded.data, exact = excluded.exact, attrs = excluded.attrs,
      exact_attrs = excluded.exact_attrs, worker = excluded.worker,
      fetched_at = excluded.fetched_at, parser = excluded.parser, tracked = excluded.tracked,
      last_seen = excluded.last_seen
""")


class Statements:
    """The statements for one table, which may be named with its schema: `shop.items`."""

    def __init__(self, table: str) -> None:
        names = names_beside(table)
        self.is_marked = IS_MARKED.format(**names)
        made = (_TABLE, _ADDED, _SEQUENCE, *_INDEXES, _HISTORY, _HISTORY_INDEX, _NOTE, _TRIGGER)
        self.schema: tuple[sql.SQL | sql.Composed, ...] = (
            LOCK,
            *(part.format(**names) for part in (*made, _COLUMNS, _TIME, _MARK)),
        )
        self.session: tuple[sql.SQL | sql.Composed, ...] = (
            _STAGING.format(**names),
            _SYNCED,
            _ROOM,
        )
        self.copy = _COPY.format(**names)
        self.upsert = _UPSERT.format(**names)


def names_beside(table: str) -> dict[str, sql.Composable]:
    """The names of a table and of all that stands beside it."""
    short = table.rpartition(".")[2]
    return {
        "table": named(table),
        "table_text": sql.Literal(_as_text(table)),
        "version": sql.Literal(VERSION),
        "sequence": named(f"{table}_order"),
        "sequence_text": sql.Literal(_as_text(f"{table}_order")),
        "staging": STAGING,
        "by_seq": sql.Identifier(f"{short}_seq"),
        "by_job": sql.Identifier(f"{short}_job"),
        "history": named(beside(table, "history")),
        "by_item": sql.Identifier(f"{short}_past"),
        "note": named(f"{table}_note"),
        "trigger": sql.Identifier(f"{short}_note"),
        "columns": named(beside(table, "item_columns")),
        "time": named(f"{table}_time"),
    }


def beside(table: str, name: str) -> str:
    """The name of what belongs to a table: alone for `items`, else after the table's own."""
    schema, dot, short = table.rpartition(".")
    return f"{schema}{dot}{name if short == DEFAULT_TABLE else f'{short}_{name}'}"


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
    near, exact = searchable_text(row.data)
    near_attrs, exact_attrs = searchable_text(row.attrs)
    names = (row.id, row.job, row.spider, row.kind, row.url)
    return (
        *(*names, near, exact, near_attrs, exact_attrs),
        *(row.worker, row.fetched_at or None, row.parser, row.tracked, row.seen),
    )


def _as_text(table: str) -> str:
    """The name as a function takes it that is given a table's name as text."""
    return ".".join('"{}"'.format(part.replace('"', '""')) for part in table.split("."))
