"""Stats in a Redis hash that all workers of a spider share: counts are added up there.

Stats are counted in memory and written once a second, from a thread: a crawl counts thousands of
times a second, and must not wait for the network each time. What a spider reads is the count of its
own process; the hash has the sum.
"""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import TYPE_CHECKING, Any

import structlog
from redis.exceptions import RedisError
from scrapy.statscollectors import StatsCollector

from skitter.compat.scrapy_redis import connection, defaults

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

log = structlog.get_logger(__name__)

WRITE_S = 1.0


class RedisStatsCollector(StatsCollector):
    """Writes the stats to STATS_KEY; without SCHEDULER_PERSIST they go when the spider closes."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        settings = crawler.settings
        self.server = connection.from_settings(settings)
        template = settings.get("STATS_KEY", defaults.STATS_KEY)
        self.stats_key = str(template) % {"spider": crawler.spidercls.name}
        self.persist = settings.getbool("SCHEDULER_PERSIST", defaults.SCHEDULER_PERSIST)
        self._counted: set[str] = set()
        self._written: dict[str, Any] = {}
        self._task: asyncio.Task[None] | None = None

    def inc_value(self, key: str, count: int = 1, start: int = 0, spider: Any = None) -> None:
        """Count on."""
        self._counted.add(key)
        super().inc_value(key, count, start, spider)

    def open_spider(self, spider: Any = None) -> None:
        """Begin to write."""
        super().open_spider(spider)
        self._task = asyncio.ensure_future(self._write_often())

    def close_spider(self, spider: Any = None, reason: str | None = None) -> None:
        """Write what is left, or clear all of it."""
        super().close_spider(spider, reason)
        if self._task:
            self._task.cancel()
        try:
            if self.persist:
                self._write(dict(self._stats))
            else:
                self.server.delete(self.stats_key)
            self.server.close()
        except (RedisError, OSError) as error:
            log.warning("stats not written", key=self.stats_key, error=str(error))

    async def _write_often(self) -> None:
        while True:
            await asyncio.sleep(WRITE_S)
            try:
                await asyncio.to_thread(self._write, dict(self._stats))
            except (RedisError, OSError) as error:
                log.warning("stats not written yet", key=self.stats_key, error=str(error))

    def _write(self, stats: dict[str, Any]) -> None:
        """Add what was counted since the last time; what was set is set."""
        changed = {k: v for k, v in stats.items() if v is not None and self._written.get(k) != v}
        if not changed:
            return
        with self.server.pipeline(transaction=True) as pipe:
            for name, value in changed.items():
                if name in self._counted:
                    pipe.hincrby(self.stats_key, name, value - self._written.get(name, 0))
                else:
                    pipe.hset(self.stats_key, name, _plain(value))
            pipe.execute()
        self._written.update(changed)


def _plain(value: Any) -> str | float:
    if isinstance(value, datetime):
        return value.timestamp()
    return value if isinstance(value, int | float) and not isinstance(value, bool) else str(value)
