"""The store in a backup: SQLite by its own way to copy a file in use, PostgreSQL row by row.

Both are what one transaction saw. A restored database is of the version that it had, and is
brought up to date when it is opened next.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import MetaData, inspect, text
from sqlalchemy.engine import Engine

from skitter.orchestrator.errors import BackupError, RestoreRefused
from skitter.store.engines import SQLITE, open_engine
from skitter.store.migrating import FOLDER

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection

    from skitter.store import Store

FILE, ROWS = "store.db", "store.rows"
AT_ONCE = 1000
BUSY_S = 30.0


async def copy_store(store: Store, url: str, folder: Path) -> None:
    """Copy the store into a folder."""
    if store.kind == "sqlite":
        await asyncio.to_thread(copy_sqlite, Path(url.removeprefix(SQLITE)), folder / FILE)
    else:
        await asyncio.to_thread(_export, url, folder / ROWS)


def copy_sqlite(source: Path, target: Path) -> None:
    """A file in use, as it is at one moment; the copy needs no log beside it."""
    with (
        closing(sqlite3.connect(f"file:{source}?mode=ro", uri=True, timeout=BUSY_S)) as here,
        closing(sqlite3.connect(target, timeout=BUSY_S)) as there,
    ):
        # In one step: between steps a writer would make it begin anew.
        here.backup(there, pages=-1)
        there.execute("PRAGMA journal_mode=DELETE")


async def store_is_empty(url: str) -> bool:
    """Whether there are no jobs and no schedules there, or no database at all."""
    return await asyncio.to_thread(_is_empty, url)


async def restore_store(url: str, folder: Path, *, kind: str) -> None:
    """Put a copied store where the URL says, in place of what is there."""
    here = "sqlite" if url.startswith(SQLITE) else "postgresql"
    if here != kind:
        raise RestoreRefused(reason=f"the backup's store is {kind}, and store.url is {here}")
    if kind == "sqlite":
        await asyncio.to_thread(put_file, folder / FILE, Path(url.removeprefix(SQLITE)))
    else:
        await asyncio.to_thread(_import, url, folder / ROWS)


def put_file(source: Path, target: Path) -> None:
    """A database file in place of another and its logs; it is there at once, or not at all."""
    target.parent.mkdir(parents=True, exist_ok=True)
    fresh = target.with_name(f"{target.name}.restored")
    fresh.write_bytes(b"")
    with source.open("rb") as here, fresh.open("wb") as there:
        while chunk := here.read(1 << 20):
            there.write(chunk)
    for ending in ("-wal", "-shm"):
        target.with_name(target.name + ending).unlink(missing_ok=True)
    fresh.replace(target)


def _is_empty(url: str) -> bool:
    if url.startswith(SQLITE) and not Path(url.removeprefix(SQLITE)).exists():
        return True
    engine = open_engine(url)
    try:
        with engine.connect() as connection:
            names = set(inspect(connection).get_table_names())
            return not any(
                name in names and connection.execute(text(f"SELECT 1 FROM {name} LIMIT 1")).first()  # noqa: S608
                for name in ("jobs", "schedules")
            )
    finally:
        engine.dispose()


def _export(url: str, path: Path) -> None:
    """All rows of all tables, as one transaction sees them: JSON lines of table and row."""
    engine = open_engine(url).execution_options(isolation_level="REPEATABLE READ")
    try:
        with engine.connect() as connection, path.open("x", encoding="utf-8") as file:
            tables = _reflected(connection)
            for table in tables.sorted_tables:
                rows = connection.execution_options(yield_per=AT_ONCE).execute(table.select())
                for row in rows.mappings():
                    file.write(json.dumps([table.name, dict(row)]) + "\n")
            file.write(json.dumps(["end", {}]) + "\n")
    finally:
        engine.dispose()


def _import(url: str, path: Path) -> None:
    engine = open_engine(url)
    try:
        with engine.begin() as connection:
            _drop_all(connection)
            _migrate(connection, _revision(path))
            tables = _reflected(connection).tables
            for name, rows in _batches(path):
                if name != "alembic_version":
                    connection.execute(tables[name].insert(), rows)
    finally:
        _dispose(engine)


def _dispose(engine: Engine) -> None:
    with suppress(OSError):
        engine.dispose()


def _reflected(connection: Connection) -> MetaData:
    found = MetaData()
    found.reflect(connection)
    return found


def _drop_all(connection: Connection) -> None:
    found = _reflected(connection)
    found.drop_all(connection)


def _migrate(connection: Connection, revision: str) -> None:
    from alembic import command  # noqa: PLC0415 - a quarter of a second, and seldom needed
    from alembic.config import Config  # noqa: PLC0415 - the same

    config = Config()
    config.set_main_option("script_location", str(FOLDER).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, revision)


def _revision(path: Path) -> str:
    for name, rows in _batches(path):
        if name == "alembic_version":
            return str(rows[0]["version_num"])
    raise BackupError(path=path, reason="it does not say of which version its tables are")


def _batches(path: Path) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Rows by table, some at a time; raises BackupError where the file is cut off."""
    name, whole = "", False
    rows: list[dict[str, Any]] = []
    with path.open(encoding="utf-8") as file:
        for line in file:
            table, row = json.loads(line)
            if rows and (table != name or len(rows) >= AT_ONCE):
                yield name, rows
                rows = []
            name, whole = table, table == "end"
            if not whole:
                rows.append(row)
    if not whole:
        raise BackupError(path=path, reason="it ends too soon")
