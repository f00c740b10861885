"""Items of an SQLite file that were not seen for long, deleted while others may write to it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

from skitter.sinks.sqlite_file import READ_PATIENCE_S, SCHEME, explain
from skitter.sinks.sqlite_rows import IS_WHOLE, PARTS

if TYPE_CHECKING:
    from pathlib import Path

    from skitter.sinks.paging import Beginning

_END = """
    SELECT count(*), max(place) FROM
    (SELECT rowid AS place FROM items WHERE rowid > :after ORDER BY rowid LIMIT :count)
"""
_OLD = "rowid > :after AND rowid <= :end AND last_seen < :before"
_FORGET_CHANGES = f"DELETE FROM history WHERE item IN (SELECT id FROM items WHERE {_OLD})"  # noqa: S608
_FORGET = f"DELETE FROM items WHERE {_OLD}"  # noqa: S608 - both are of constants


def forget_in_file(path: Path, before: str, beginning: Beginning) -> tuple[int, str]:
    """Delete what a part of a file has that is older; how many, and where the part ends."""
    if not path.is_file():
        return 0, ""
    after, count = int(beginning.after or 0), beginning.at_once
    try:
        with closing(_connect(path)) as connection, connection:
            if connection.execute(IS_WHOLE).fetchone()[0] < PARTS:
                return 0, ""
            connection.execute("BEGIN IMMEDIATE")
            found = connection.execute(_END, {"after": after, "count": count}).fetchone()
            part = {"after": after, "end": found[1] or after, "before": before}
            connection.execute(_FORGET_CHANGES, part)
            gone = connection.execute(_FORGET, part).rowcount
    except sqlite3.Error as error:
        raise explain(f"{SCHEME}{path}", error) from error
    return gone, str(found[1]) if found[0] == count else ""


def _connect(path: Path) -> sqlite3.Connection:
    address = f"{path.absolute().as_uri()}?mode=rw"
    return sqlite3.connect(address, uri=True, timeout=READ_PATIENCE_S, isolation_level=None)
