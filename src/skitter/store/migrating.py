"""Brings a database up to date, under a lock, so that any number of processes may open it at once.

The steps and the note of which was the last are one transaction: a crash leaves all or nothing.
Alembic is loaded only where there is something to do.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import inspect, text

from skitter.service_errors import StoreNewer

if TYPE_CHECKING:
    from sqlalchemy import Connection

FOLDER = Path(__file__).parent / "migrations"
_LOCK = 7_305_484_221  # any number that is ours


def head() -> str:
    """The number of the last step."""
    return max(path.name[:4] for path in (FOLDER / "versions").glob("[0-9]*.py"))


def version(connection: Connection) -> str:
    """The number of the last step that a database has had; empty for a new one."""
    if not inspect(connection).has_table("alembic_version"):
        return ""
    return connection.execute(text("SELECT version_num FROM alembic_version")).scalar() or ""


def is_current(connection: Connection, *, store: str) -> bool:
    """Whether there is nothing to do; raises StoreNewer where a later Skitter has been."""
    found, known = version(connection), head()
    if found > known:
        raise StoreNewer(store=store, found=found, known=known)
    return found == known


def migrate(connection: Connection, *, store: str) -> None:
    """Take all steps that are missing. The connection's transaction is begun, for writing."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
    if is_current(connection, store=store):  # another process was first
        return
    from alembic import command  # noqa: PLC0415 - a quarter of a second, and seldom needed
    from alembic.config import Config  # noqa: PLC0415 - the same

    config = Config()
    config.set_main_option("script_location", str(FOLDER).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
