"""Answers that came too late for those who asked, kept until they are asked for, once."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, insert

from skitter.store.tables_access import polls as table

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Connection

    from skitter.store import Store

KEPT_MS = 86_400_000


class PollAnswers:
    """One box for each key: nobody takes another's answer."""

    def __init__(self, store: Store, *, now: Callable[[], float] = time.time) -> None:
        self._store = store
        self._now = now

    async def put(self, owner: str, poll_id: str, answer: dict[str, Any]) -> None:
        """Keep an answer; one under the same id is replaced."""
        now_ms = int(self._now() * 1000)
        mine = (table.c.owner == owner) & (table.c.poll_id == poll_id)
        line = insert(table).values(
            owner=owner, poll_id=poll_id, at_ms=now_ms, answer=json.dumps(answer)
        )

        def write(db: Connection) -> None:
            db.execute(delete(table).where(mine | (table.c.at_ms < now_ms - KEPT_MS)))
            db.execute(line)

        await self._store.write(write)

    async def take(self, owner: str, poll_id: str) -> dict[str, Any] | None:
        """The answer, once; None where there is none, or none yet."""
        taken = (
            delete(table)
            .where(table.c.owner == owner, table.c.poll_id == poll_id)
            .returning(table.c.answer)
        )
        text = await self._store.write(lambda db: db.execute(taken).scalar())
        found: dict[str, Any] | None = json.loads(text) if text else None
        return found
