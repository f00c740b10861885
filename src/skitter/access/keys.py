"""API keys: made, shown once, kept as hashes, checked with a short memory, revoked.

A revocation counts everywhere within a second: what was read of a key is believed for half of one.
When a key was last used is written once a minute at the most, so that checking is reading.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import func, insert, select, update
from sqlalchemy.exc import IntegrityError

from skitter.access.audit import write_line
from skitter.access.key_text import KeyText
from skitter.access.roles import Principal, Role
from skitter.access_errors import BadKey, UnknownKey
from skitter.store.tables_access import keys as table

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Connection

    from skitter.store import Store

FIRST = "first"
BELIEVED_S, REMEMBERED = 0.5, 1_000
USE_MS = 60_000
MOST_LISTED = 1_000


@dataclass(frozen=True, slots=True)
class Key:
    """What is known of a key; its secret is not."""

    id: str
    name: str
    role: Role
    project: str | None
    created_ms: int
    expires_ms: int | None = None
    revoked_ms: int | None = None
    used_ms: int | None = None

    def principal(self) -> Principal:
        return Principal(self.id, self.name, self.role, self.project)

    def is_good(self, now_ms: int) -> bool:
        """Whether it opens anything now."""
        return self.revoked_ms is None and (self.expires_ms is None or now_ms < self.expires_ms)


@dataclass(slots=True)
class _Believed:
    until: float
    key: Key | None
    digest: str


class Keys:
    """Make keys, check them, list them, revoke them."""

    def __init__(self, store: Store, *, now: Callable[[], float] = time.time) -> None:
        self._store = store
        self._now = now
        self._believed: OrderedDict[str, _Believed] = OrderedDict()
        self._asked: dict[str, asyncio.Task[_Believed]] = {}

    async def create(
        self, *, name: str, role: Role, project: str | None = None, expires_s: float | None = None
    ) -> tuple[Key, str]:
        """A new key, and its text, which is not kept and cannot be had again."""
        text = KeyText.new()
        now_ms = self._now_ms()
        expires_ms = None if expires_s is None else now_ms + int(expires_s * 1000)
        key = Key(text.id, name, role, project, now_ms, expires_ms)
        await self._store.write(lambda db: _insert(db, key, text))
        return key, str(text)

    async def create_first(self) -> str | None:
        """An admin's key where there has never been a key; None ever after.

        Its id is always the same, so that of two servers that start at once only one makes it. No
        command and no request asks for it, so it writes its line in the audit log itself.
        """
        text = KeyText.new(key_id=FIRST)
        key = Key(FIRST, "first admin", Role.ADMIN, None, self._now_ms())
        if await self.any():
            return None

        def write(db: Connection) -> None:
            _insert(db, key, text)
            write_line(db, key.principal(), "the first key is made", at_ms=key.created_ms)

        try:
            await self._store.write(write)
        except IntegrityError:
            return None
        return str(text)

    async def any(self) -> bool:
        """Whether there has ever been a key."""
        return bool(await self._store.read(lambda db: db.scalar(select(func.count(table.c.id)))))

    async def verify(self, text: str) -> Principal:
        """Who it is that has this key; raises BadKey."""
        given = KeyText.read(text)
        if given is None:
            raise BadKey
        known = await self._known(given.id)
        now_ms = self._now_ms()
        if known.key is None or not given.fits(known.digest) or not known.key.is_good(now_ms):
            raise BadKey
        if known.key.used_ms is None or now_ms - known.key.used_ms >= USE_MS:
            await self._note_use(known, now_ms)
        return known.key.principal()

    async def list(self) -> list[Key]:
        """All keys, the newest first, the revoked ones too."""
        query = select(table).order_by(table.c.created_ms.desc(), table.c.id).limit(MOST_LISTED)
        rows = await self._store.read(lambda db: list(db.execute(query).mappings()))
        return [_key(row) for row in rows]

    async def show(self, key_id: str) -> Key:
        """One key; raises UnknownKey."""
        found = (await self._read(key_id)).key
        if found is None:
            raise UnknownKey(key=key_id)
        return found

    async def revoke(self, key_id: str) -> Key:
        """A key opens nothing more, here at once and anywhere within a second."""
        gone = update(table).where(table.c.id == key_id, table.c.revoked_ms.is_(None))
        await self._store.write(lambda db: db.execute(gone.values(revoked_ms=self._now_ms())))
        self._believed.pop(key_id, None)
        return await self.show(key_id)

    async def _known(self, key_id: str) -> _Believed:
        """What the store says, or said a moment ago; many who ask at once read it once."""
        known = self._believed.get(key_id)
        if known and time.monotonic() < known.until:
            return known
        if key_id not in self._asked:
            self._asked[key_id] = asyncio.create_task(self._read(key_id))
            self._asked[key_id].add_done_callback(lambda _: self._asked.pop(key_id, None))
        return await asyncio.shield(self._asked[key_id])

    async def _read(self, key_id: str) -> _Believed:
        asked = time.monotonic()
        query = select(table).where(table.c.id == key_id)
        row = await self._store.read(lambda db: db.execute(query).mappings().first())
        key, digest = (_key(row), row["digest"]) if row else (None, "")
        known = _Believed(asked + BELIEVED_S, key, digest)
        self._believed[key_id] = known
        self._believed.move_to_end(key_id)
        while len(self._believed) > REMEMBERED:
            self._believed.popitem(last=False)
        return known

    async def _note_use(self, known: _Believed, now_ms: int) -> None:
        key_id = known.key.id if known.key else ""
        known.key = None if known.key is None else _used(known.key, now_ms)
        stale = table.c.used_ms.is_(None) | (table.c.used_ms <= now_ms - USE_MS)
        note = update(table).where(table.c.id == key_id, stale).values(used_ms=now_ms)
        await self._store.write(lambda db: db.execute(note))

    def _now_ms(self) -> int:
        return int(self._now() * 1000)


def _insert(db: Connection, key: Key, text: KeyText) -> None:
    db.execute(
        insert(table).values(
            id=key.id,
            name=key.name,
            role=key.role.value,
            project=key.project,
            digest=text.digest(),
            created_ms=key.created_ms,
            expires_ms=key.expires_ms,
        )
    )


def _key(row: Any) -> Key:
    fields = {name: row[name] for name in Key.__slots__ if name != "role"}
    return Key(role=Role(row["role"]), **fields)


def _used(key: Key, now_ms: int) -> Key:
    fields = {name: getattr(key, name) for name in Key.__slots__}
    return Key(**(fields | {"used_ms": now_ms}))
