"""A connection to an SQLite file of items: durable transactions, patience, and errors in words.

The write-ahead log lets readers and one writer work side by side; `synchronous=FULL` syncs it in
each commit, so that a commit outlives the machine. A writer takes its lock when it begins, waits
while another has it, and tries again until its patience ends. SQLite itself does not notice when
its file is deleted or replaced while it is open, and would go on writing to what nobody can read:
that is looked for before each write. The log does not work on network file systems.
"""

from __future__ import annotations

import random
import sqlite3
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from skitter.errors import (
    SinkBusy,
    SinkDamaged,
    SinkError,
    SinkFull,
    SinkGone,
    SinkReadOnly,
    SinkRefused,
    UnknownSink,
)
from skitter.sinks.durable import make_folder
from skitter.sinks.sqlite_rows import ADDED, IS_WHOLE, PARTS, SCHEMA, upsert
from skitter.sinks.sqlite_views import make_view
from skitter.sinks.views import tell_failure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from skitter.sinks.rows import Row
    from skitter.sinks.shape import Shape

SCHEME = "sqlite:"
READ_PATIENCE_S = 5.0
_PRAGMAS = (
    "PRAGMA synchronous=FULL",
    "PRAGMA fullfsync=ON",  # on a Mac, a plain sync leaves data in the drive's cache
    "PRAGMA checkpoint_fullfsync=ON",
    "PRAGMA journal_size_limit=67108864",
)
_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_KINDS: dict[int, type[SinkError]] = {
    sqlite3.SQLITE_FULL: SinkFull,
    sqlite3.SQLITE_READONLY: SinkReadOnly,
    sqlite3.SQLITE_CANTOPEN: SinkReadOnly,
    sqlite3.SQLITE_PERM: SinkReadOnly,
    sqlite3.SQLITE_CORRUPT: SinkDamaged,
    sqlite3.SQLITE_NOTADB: SinkDamaged,
    sqlite3.SQLITE_TOOBIG: SinkRefused,
    sqlite3.SQLITE_CONSTRAINT: SinkRefused,
    sqlite3.SQLITE_MISMATCH: SinkRefused,
}


class SqliteFile:
    """Used by one thread, the one that opens it."""

    def __init__(self, path: Path, *, patience_s: float) -> None:
        self.name = f"{SCHEME}{path}"
        self._path = path.absolute()
        self._patience_s = patience_s
        self._connection: sqlite3.Connection | None = None
        self._inode = (0, 0)

    def open(self) -> None:
        """Connect, and make the file and its table where they are missing."""
        self._persist(self._connect)

    def write(self, rows: list[Row]) -> None:
        """Write all rows, or none, in a transaction that is on the disk when this returns."""
        self._persist(lambda: self._write(rows))

    def declare(self, shapes: Iterable[Shape]) -> None:
        """Make columns for what classes declare; a failure is told, and holds nothing up."""
        for shape in shapes:
            try:
                self._persist(partial(self._declare, shape))
            except SinkError as error:
                tell_failure(shape, error)

    def _declare(self, shape: Shape) -> None:
        if self._connection is not None and self._inode_now() == self._inode:
            self._in_transaction(self._connection, lambda open_: make_view(open_, shape))

    def close(self) -> None:
        """Let go of the file; the last process to do so puts the log away."""
        if self._connection is not None:
            with suppress(sqlite3.Error):
                self._connection.close()
            self._connection = None

    def _persist(self, step: Callable[[], None]) -> None:
        """Do a step, again and again while another writer is in the way."""
        begun = time.monotonic()
        while True:
            try:
                return step()
            except sqlite3.Error as error:
                waited_s = time.monotonic() - begun
                if not _is_busy(error):
                    raise explain(self.name, error) from error
                if waited_s >= self._patience_s:
                    raise SinkBusy(sink=self.name, waited_s=waited_s) from error
                # SQLite's own wait grows to a tenth of a second: far longer than a commit takes.
                time.sleep(random.uniform(0.001, 0.01))
            except OSError as error:
                raise SinkReadOnly(sink=self.name, reason=str(error)) from error
            except (OverflowError, UnicodeError, ValueError) as error:
                raise SinkRefused(sink=self.name, reason=str(error)) from error

    def _connect(self) -> None:
        self.close()
        make_folder(self._path.parent)
        connection = sqlite3.connect(self._path, timeout=0, isolation_level=None)
        try:
            self._prepare(connection)
        except BaseException:
            connection.close()
            raise
        self._inode = self._inode_now()
        self._connection = connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        mode = connection.execute("PRAGMA journal_mode=WAL").fetchone()[0]
        if mode != "wal":
            reason = f"it keeps its journal as {mode}: is it on a network file system?"
            raise SinkError(sink=self.name, reason=reason)
        for statement in _PRAGMAS:
            connection.execute(statement)
        if connection.execute(IS_WHOLE).fetchone()[0] < PARTS:
            self._in_transaction(connection, _migrate)

    @staticmethod
    def _in_transaction(
        connection: sqlite3.Connection, step: Callable[[sqlite3.Connection], None]
    ) -> None:
        """All of a step or nothing, while no other writes."""
        try:
            connection.execute("BEGIN IMMEDIATE")
            step(connection)
            connection.execute("COMMIT")
        except BaseException:
            # A full disk may have rolled it back already, and there may be nothing to take back.
            with suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
            raise

    def _write(self, rows: list[Row]) -> None:
        connection = self._connection
        if connection is None:
            raise SinkError(sink=self.name, reason="it is not open")
        if self._inode_now() != self._inode:
            raise SinkGone(sink=self.name)
        self._in_transaction(connection, lambda open_: upsert(open_, rows))

    def _inode_now(self) -> tuple[int, int]:
        """Which file the path leads to; none at all is (0, 0)."""
        try:
            found = self._path.stat()
        except FileNotFoundError:
            return (0, 0)
        return (found.st_dev, found.st_ino)


def _migrate(connection: sqlite3.Connection) -> None:
    """Make what is missing: in a new file all of it, in an old one what came later."""
    there = {name for _, name, *_ in connection.execute("PRAGMA table_info(items)")}
    for name, kind in ADDED.items() if there else ():
        if name not in there:
            connection.execute(f"ALTER TABLE items ADD COLUMN {name} {kind}")
    for statement in SCHEMA:
        connection.execute(statement)


def path_of(url: str) -> Path:
    """The path in `sqlite:PATH`."""
    path = url.removeprefix(SCHEME)
    if path.startswith("//"):
        reason = "its path is written without slashes before it"
    elif path in ("", ":memory:"):
        reason = "it names no file"
    else:
        return Path(path)
    raise UnknownSink(url=url, reason=reason, known="sqlite:items.db, sqlite:/var/lib/items.db")


def _is_busy(error: sqlite3.Error) -> bool:
    return _code(error) in _BUSY


def explain(sink: str, error: sqlite3.Error) -> SinkError:
    kind = _KINDS.get(_code(error), SinkRefused if _is_about_values(error) else SinkError)
    if kind is SinkError and _is_busy(error):
        return SinkBusy(sink=sink, waited_s=READ_PATIENCE_S)
    return kind(sink=sink, reason=str(error))


def _is_about_values(error: sqlite3.Error) -> bool:
    return isinstance(error, sqlite3.DataError | sqlite3.InterfaceError | sqlite3.ProgrammingError)


def _code(error: sqlite3.Error) -> int:
    """The primary result code; the extended one has more in its upper bits."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF
