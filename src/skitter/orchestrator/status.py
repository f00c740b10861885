"""What each orchestrator says of itself, in the store: who leads, and how its loops go."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, select
from sqlalchemy.dialects import postgresql, sqlite

from skitter.store.tables_schedules import orchestrators

if TYPE_CHECKING:
    from sqlalchemy import Connection

FORGOTTEN_MS = 3_600_000
ALIVE_MS = 10_000


def write_status(connection: Connection, name: str, said: dict[str, Any]) -> None:
    """Say it; those who have said nothing for an hour are forgotten."""
    now_ms = int(time.time() * 1000)
    dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
    values = {"seen_ms": now_ms, "said": said}
    statement = dialect.insert(orchestrators).values(name=name, **values)
    connection.execute(statement.on_conflict_do_update(index_elements=["name"], set_=values))
    connection.execute(delete(orchestrators).where(orchestrators.c.seen_ms < now_ms - FORGOTTEN_MS))


def delete_status(connection: Connection, name: str) -> None:
    """It has ended."""
    connection.execute(delete(orchestrators).where(orchestrators.c.name == name))


def read_status(connection: Connection) -> list[dict[str, Any]]:
    """All orchestrators by name; `alive` says whether one was heard of just now."""
    now_ms = int(time.time() * 1000)
    rows = connection.execute(select(orchestrators).order_by(orchestrators.c.name))
    return [
        {
            "name": row.name,
            "alive": now_ms - row.seen_ms < ALIVE_MS,
            "seen_s_ago": round(max(0, now_ms - row.seen_ms) / 1000, 1),
            **row.said,
        }
        for row in rows
    ]
