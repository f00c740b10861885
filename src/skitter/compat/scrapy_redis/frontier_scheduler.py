"""The add-on's scheduler in scrapy-redis's ways: start URLs from Redis, its settings and keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from skitter.addon.scheduler import Scheduler as FrontierScheduler
from skitter.compat.scrapy_redis.connection import async_from_settings
from skitter.compat.scrapy_redis.feeder import Feeder
from skitter.compat.scrapy_redis.holding import Lingering
from skitter.compat.scrapy_redis.options import Options
from skitter.compat.scrapy_redis.preparing import Preparation
from skitter.compat.scrapy_redis.spiders import RedisMixin
from skitter.compat.scrapy_redis.start_urls import StartUrls
from skitter.compat.scrapy_redis.switching import give_downloader

if TYPE_CHECKING:
    from scrapy.crawler import Crawler


class Scheduler(FrontierScheduler):
    """The SCHEDULER of a project that was written for scrapy-redis."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._options = Options.of(crawler.settings, spider=str(crawler.spidercls.name))
        reads = isinstance(crawler.spider, RedisMixin)
        self._key = str(getattr(crawler.spider, "redis_key", "") or "") if reads else ""
        self._keeper: Feeder | Lingering | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """As Scrapy makes it."""
        give_downloader(crawler)
        return cls(crawler)

    async def _open(self) -> None:
        join = self._closing.open
        prepared = Preparation(self._crawl, self._options, feeds=bool(self._key))

        async def prepare_and_join(*, own: bool, **others: Any) -> None:
            await prepared.run(own=own)
            await join(own=own, **others)

        self._closing.open = prepare_and_join  # type: ignore[method-assign]
        await super()._open()
        if self._key:
            self._keeper = self._feeder()
        elif self._options.idle_s and self._crawl.job:
            self._keeper = Lingering(self._crawl, seconds=self._options.idle_s)
        if self._keeper:
            self._keeper.begin()

    async def _close(self) -> None:
        if self._keeper:
            await self._keeper.close()
        await super()._close()

    def _feeder(self) -> Feeder:
        spider: Any = self._crawl.crawler.spider
        source = StartUrls(async_from_settings(self._crawl.crawler.settings), self._key)
        feeder = Feeder(
            self._crawl,
            source,
            batch_size=spider.redis_batch_size,
            max_idle_s=spider.max_idle_time,
        )
        spider.feeder = feeder
        self._starter.before = feeder.hold
        return feeder
