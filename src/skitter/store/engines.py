"""The engine that a URL names, with what each kind of database needs to be safe and patient.

SQLite: the write-ahead log, synced in each commit; a writer takes its lock when it begins, so that
a transaction cannot fail half-way for another's sake. PostgreSQL: bounds on every wait.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import create_engine, event
from sqlalchemy.engine import make_url

from skitter.errors import MissingExtra
from skitter.masking import mask_text
from skitter.service_errors import StoreError

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

SQLITE = "sqlite:"
BUSY_MS = 30_000
THREADS = 4
WRITING = "skitter_writing"
_PRAGMAS = (
    "PRAGMA journal_mode=WAL",
    "PRAGMA synchronous=FULL",
    "PRAGMA fullfsync=ON",  # on a Mac, a plain sync leaves data in the drive's cache
    "PRAGMA journal_size_limit=67108864",
    f"PRAGMA busy_timeout={BUSY_MS}",
)


def open_engine(url: str) -> Engine:
    """An engine for `sqlite:PATH` or `postgresql://…`; nothing is connected yet."""
    return _sqlite(url) if url.startswith(SQLITE) else _postgres(url)


def _sqlite(url: str) -> Engine:
    path = Path(url.removeprefix(SQLITE)).absolute()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(store=url, reason=str(error)) from error
    engine = create_engine(
        f"sqlite:///{path}", pool_size=THREADS, max_overflow=0, connect_args={"timeout": 30}
    )
    event.listen(engine, "connect", _prepare)
    event.listen(engine, "begin", _begin)
    return engine


def _prepare(connection: Any, _: object) -> None:
    connection.isolation_level = None  # the driver begins nothing by itself: `_begin` does
    for pragma in _PRAGMAS:
        connection.execute(pragma)


def _begin(connection: Connection) -> None:
    writing = connection.get_execution_options().get(WRITING)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")


def _postgres(url: str) -> Engine:
    _, _, rest = url.partition("://")
    options = "-c statement_timeout=60000 -c lock_timeout=30000"
    try:
        return create_engine(
            make_url(f"postgresql+psycopg://{rest}"),
            pool_size=THREADS,
            max_overflow=0,
            pool_timeout=30,
            pool_pre_ping=True,
            connect_args={"connect_timeout": 10, "options": options},
        )
    except ImportError as error:
        package = error.name or str(error)
        feature = f"the store {mask_text(url)}"
        raise MissingExtra(feature=feature, package=package, extra="postgres") from error
