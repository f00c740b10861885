"""The answers that are kept for repeats, in the store."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from skitter.store.tables_access import answers as table

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import ColumnElement, Connection

    from skitter.store import Store

# After this, a request without an answer is taken to have died with its server.
ABANDONED_MS = 300_000


@dataclass(frozen=True, slots=True)
class Kept:
    """An answer; without a digest, the request is still under way."""

    digest: str | None
    status: int = 0
    headers: list[tuple[str, str]] | tuple[tuple[str, str], ...] = ()
    body: bytes | None = None


class Answers:
    """Begin a request under a name, keep its answer, or forget it."""

    def __init__(
        self, store: Store, *, keep_s: float, now: Callable[[], float] = time.time
    ) -> None:
        self._store = store
        self._keep_ms = int(keep_s * 1000)
        self._now = now

    async def begin(self, owner: str, name: str) -> Kept | None:
        """Take a name, and None; or what there is under it already."""
        now_ms = int(self._now() * 1000)
        old = (table.c.at_ms < now_ms - self._keep_ms) | (
            table.c.digest.is_(None) & (table.c.at_ms < now_ms - ABANDONED_MS)
        )
        line = insert(table).values(key_id=owner, name=name, at_ms=now_ms)

        def write(db: Connection) -> None:
            db.execute(delete(table).where(old))
            db.execute(line)

        try:
            await self._store.write(write)
        except IntegrityError:
            return await self._read(owner, name)
        return None

    async def keep(self, owner: str, name: str, kept: Kept) -> None:
        """The answer came."""
        values = {
            "digest": kept.digest,
            "status": kept.status,
            "headers": json.dumps([list(pair) for pair in kept.headers]),
            "body": kept.body,
        }
        line = update(table).where(*_mine(owner, name)).values(**values)
        await self._store.write(lambda db: db.execute(line))

    async def forget(self, owner: str, name: str) -> None:
        """It failed, and may be tried again."""
        line = delete(table).where(*_mine(owner, name))
        await self._store.write(lambda db: db.execute(line))

    async def _read(self, owner: str, name: str) -> Kept:
        query = select(table).where(*_mine(owner, name))
        row = await self._store.read(lambda db: db.execute(query).mappings().first())
        if row is None or row["digest"] is None:
            return Kept(None)
        headers = [(one, two) for one, two in json.loads(row["headers"])]
        return Kept(row["digest"], row["status"], headers, row["body"])


def _mine(owner: str, name: str) -> tuple[ColumnElement[bool], ...]:
    return table.c.key_id == owner, table.c.name == name
