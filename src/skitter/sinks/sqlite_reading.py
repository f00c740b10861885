"""Items and their history out of an SQLite file, while others may write to it."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

from skitter.errors import SinkError
from skitter.sinks.sqlite_file import READ_PATIENCE_S, SCHEME, explain
from skitter.sinks.sqlite_rows import select_changes, select_page
from skitter.sinks.stored import Change, Stored

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from skitter.sinks.paging import Beginning
    from skitter.sinks.stored import Wanted


def read_file(path: Path, wanted: Wanted, beginning: Beginning) -> Iterator[tuple[str, Stored]]:
    """The items of a file in the order in which they came, each with its place in that order."""
    for row in _rows(path, select_page(wanted), wanted.given(), beginning):
        found = Stored.of_row(row[1:])
        if wanted.holds(found):
            yield str(row[0]), found


def read_file_history(
    path: Path, given: dict[str, Any], beginning: Beginning
) -> Iterator[tuple[str, Change]]:
    """The changes of a file's items in the order in which they came."""
    for place, item, at, job, before, after in _rows(path, select_changes(given), given, beginning):
        yield str(place), Change(item, at, job, json.loads(before), json.loads(after))


def _rows(
    path: Path, statement: str, given: dict[str, Any], beginning: Beginning
) -> Iterator[tuple[Any, ...]]:
    name = f"{SCHEME}{path}"
    if not path.is_file():
        raise SinkError(sink=name, reason="there is no such file")
    count = beginning.at_once
    values = given | {"after": int(beginning.after or 0), "count": count}
    try:
        with closing(_connect(path)) as connection:
            while rows := connection.execute(statement, values).fetchall():
                yield from rows
                if len(rows) < count:
                    return
                values["after"] = rows[-1][0]
    except sqlite3.Error as error:
        raise explain(name, error) from error


def _connect(path: Path) -> sqlite3.Connection:
    address = f"{path.absolute().as_uri()}?mode=ro"
    return sqlite3.connect(address, uri=True, timeout=READ_PATIENCE_S, check_same_thread=False)
