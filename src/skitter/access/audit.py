"""The record of every change: who, when, what, and how it ended.

A line is begun before the change and completed after it, so that no change is without one: a line
without a status is of a change that was cut off.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, insert, select, update

from skitter.masking import mask_value
from skitter.store.tables_access import audit as table

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Connection

    from skitter.access.roles import Principal
    from skitter.store import Store

MOST_DETAIL = 4_000
MOST_LISTED = 1_000


@dataclass(frozen=True, slots=True)
class Entry:
    """One change. status is that of the answer (2xx: it was made); None: it was cut off."""

    id: int
    at_ms: int
    key_id: str
    name: str
    role: str
    project: str | None
    action: str
    status: int | None
    detail: str | None
    address: str | None
    request_id: str | None


class Audit:
    """Write down what is changed, and read it."""

    def __init__(self, store: Store, *, now: Callable[[], float] = time.time) -> None:
        self._store = store
        self._now = now

    async def begin(
        self, who: Principal, action: str, *, address: str = "", request_id: str = ""
    ) -> int:
        """Write down that someone is about to change something; the line's number."""
        line = insert(table).values(
            at_ms=int(self._now() * 1000),
            key_id=who.key,
            name=who.name,
            role=who.role.value,
            project=who.project,
            action=action[:200],
            address=address[:64],
            request_id=request_id[:64],
        )
        made = await self._store.write(lambda db: db.execute(line).inserted_primary_key)
        return int(made[0]) if made else 0

    async def finish(self, line: int, *, status: int, detail: Any = None) -> None:
        """Write down how it ended, and with which values; secrets among them are masked."""
        text = None if detail is None else _told(detail)
        done = update(table).where(table.c.id == line).values(status=status, detail=text)
        await self._store.write(lambda db: db.execute(done))

    async def list(
        self,
        *,
        key: str | None = None,
        since_ms: int | None = None,
        after: int | None = None,
        limit: int = 100,
    ) -> list[Entry]:
        """The newest first, those of a key or since a time if told; after: the last one seen."""
        query = select(table).order_by(table.c.id.desc()).limit(min(limit, MOST_LISTED))
        if key is not None:
            query = query.where(table.c.key_id == key)
        if since_ms is not None:
            query = query.where(table.c.at_ms >= since_ms)
        if after is not None:
            query = query.where(table.c.id < after)
        rows = await self._store.read(lambda db: list(db.execute(query).mappings()))
        return [Entry(**row) for row in rows]

    async def prune(self, *, before_ms: int, limit: int = MOST_LISTED) -> int:
        """Throw away some of what is older; how many lines that were."""
        some = select(table.c.id).where(table.c.at_ms < before_ms).order_by(table.c.id).limit(limit)
        old = delete(table).where(table.c.id.in_(some.scalar_subquery()))
        return int(await self._store.write(lambda db: db.execute(old).rowcount))


def write_line(db: Connection, who: Principal, action: str, *, at_ms: int) -> None:
    """A whole line of something that is done in the same transaction."""
    db.execute(
        insert(table).values(
            at_ms=at_ms, key_id=who.key, name=who.name, role=who.role.value, project=who.project,
            action=action, status=201,
        )
    )  # fmt: skip


def _told(detail: Any) -> str:
    text = json.dumps(mask_value(detail), ensure_ascii=False, default=str)
    return text if len(text) <= MOST_DETAIL else f"{text[:MOST_DETAIL]}…"
