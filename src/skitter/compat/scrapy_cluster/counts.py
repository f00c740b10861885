"""How many messages were taken, by handler, in Scrapy Cluster's windows of time.

Kept in the store by quarter of an hour, for all servers together; what is older than the longest
window is dropped, and the sum of all times stays.
"""

from __future__ import annotations

import time
from collections import defaultdict
from typing import TYPE_CHECKING

from sqlalchemy import delete, select
from sqlalchemy.dialects import postgresql, sqlite

from skitter.compat.scrapy_cluster.messages import Action, Crawl, Domain, Stats
from skitter.store.tables_access import feed_counts as table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sqlalchemy import Connection

    from skitter.compat.scrapy_cluster.messages import Message
    from skitter.store import Store

SLOT_S = 900
WINDOWS_S = (900, 3_600, 21_600, 43_200, 86_400, 604_800)
LIFETIME = -1


class FeedCounts:
    """Counts messages, and adds them up."""

    def __init__(self, store: Store, *, now: Callable[[], float] = time.time) -> None:
        self._store = store
        self._now = now

    async def count(self, message: Message) -> None:
        """A message was taken."""
        await self._add(("fed:total", f"fed:{_handler(message)}", *_acted(message)))

    async def count_failure(self) -> None:
        """Something was refused."""
        await self._add(("fed:total", "fed:fail"))

    async def windows(self) -> dict[str, dict[str, int]]:
        """By name: how many in each window that has some, and in all."""
        rows = await self._store.read(lambda db: list(db.execute(select(table)).mappings()))
        now = int(self._now()) // SLOT_S
        found: dict[str, dict[str, int]] = defaultdict(dict)
        for row in rows:
            name, slot, count = row["name"], row["slot"], int(row["count"])
            if slot == LIFETIME:
                found[name]["lifetime"] = count
                continue
            for window_s in WINDOWS_S:
                if now - slot < window_s // SLOT_S:
                    found[name][str(window_s)] = found[name].get(str(window_s), 0) + count
        return dict(found)

    async def _add(self, names: Sequence[str]) -> None:
        slot = int(self._now()) // SLOT_S

        def write(db: Connection) -> None:
            for name in names:
                for place in (slot, LIFETIME):
                    _increment(db, name, place)
            oldest = slot - WINDOWS_S[-1] // SLOT_S
            db.execute(delete(table).where(table.c.slot >= 0, table.c.slot < oldest))

        await self._store.write(write)


def _increment(db: Connection, name: str, slot: int) -> None:
    values = {"name": name, "slot": slot, "count": 1}
    dialect = sqlite if db.dialect.name == "sqlite" else postgresql
    line = dialect.insert(table).values(**values)
    more = line.on_conflict_do_update(
        index_elements=["name", "slot"], set_={"count": table.c.count + 1}
    )
    db.execute(more)


def _handler(message: Message) -> str:
    kinds = {
        Crawl: "ScraperHandler",
        Action: "ActionHandler",
        Stats: "StatsHandler",
        Domain: "ZookeeperHandler",
    }
    return kinds[type(message)]


def _acted(message: Message) -> tuple[str, ...]:
    """What Scrapy Cluster's redis-monitor would have done for it."""
    if isinstance(message, Action):
        name = {"info": "InfoMonitor", "stop": "StopMonitor", "expire": "ExpireMonitor"}
        return ("acted:total", f"acted:{name[message.action]}")
    if isinstance(message, Stats):
        return ("acted:total", "acted:StatsMonitor")
    return ("acted:total", "acted:ZookeeperMonitor") if isinstance(message, Domain) else ()
