"""The leader's number in the database: what an older leader writes is refused by it.

The lock in Redis may have moved on while a process stood still, and no check before a write can
see that. So a leader takes a term when it begins, and each of its transactions compares it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import select, update
from sqlalchemy.dialects import postgresql, sqlite

from skitter.orchestrator.errors import Superseded
from skitter.store.tables_schedules import terms

if TYPE_CHECKING:
    from sqlalchemy import Connection

NAME = "orchestrator"


def take_term(connection: Connection, owner: str) -> int:
    """Begin a term: all earlier ones are over."""
    dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
    begin = dialect.insert(terms).values(name=NAME, term=0, owner=owner)
    connection.execute(begin.on_conflict_do_nothing())
    connection.execute(
        update(terms).where(terms.c.name == NAME).values(term=terms.c.term + 1, owner=owner)
    )
    return int(connection.execute(select(terms.c.term).where(terms.c.name == NAME)).scalar_one())


def keep_term(connection: Connection, term: int) -> None:
    """Raise Superseded unless this is the last term; it stays so until the transaction ends."""
    row = connection.execute(
        select(terms.c.term).where(terms.c.name == NAME).with_for_update()
    ).first()
    if row is None or row.term != term:
        raise Superseded
