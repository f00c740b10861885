"""Spiders whose start URLs come from Redis, one after the other, while they crawl.

`redis_key`, `redis_batch_size`, `redis_encoding` and `max_idle_time` are set on the class or by the
settings. What a message means is for `make_request_from_data` to say; a spider may have its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from scrapy import Spider, signals
from scrapy.exceptions import DontCloseSpider
from scrapy.spiders import CrawlSpider

from skitter.compat.scrapy_redis import connection, defaults
from skitter.compat.scrapy_redis.messages import request_of
from skitter.compat.scrapy_redis.switching import put_in
from skitter.errors import UnsupportedSetting

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.crawler import Crawler
    from scrapy.http import Request
    from scrapy.settings import BaseSettings

    from skitter.compat.scrapy_redis.feeder import Feeder

if TYPE_CHECKING:
    _Mixed = Spider
else:
    _Mixed = object
# Methods by which scrapy-redis reads from Redis; here they are never called.
_NOT_CALLED = ("fetch_data", "next_requests", "pop_list_queue", "pop_priority_queue",
               "schedule_next_requests", "start_requests")  # fmt: skip


class RedisMixin(_Mixed):
    """For a spider that reads start URLs from Redis; call `setup_redis` in its `from_crawler`.

    server is a blocking client for the spider's own use.
    """

    redis_key: str | None = None
    redis_batch_size: int | None = None
    redis_encoding: str | None = None
    max_idle_time: int | None = None
    server: Any = None
    feeder: Feeder | None = None

    @classmethod
    def update_settings(cls, settings: BaseSettings) -> None:
        """Whoever reads from Redis crawls on the frontier: the add-on is switched on."""
        super().update_settings(settings)
        put_in(settings)

    @property
    def makes_own_requests(self) -> bool:
        """Whether the spider reads messages in a way of its own."""
        return type(self).make_request_from_data is not RedisMixin.make_request_from_data

    def setup_redis(self, crawler: Crawler | None = None) -> None:
        """Read the settings; the scheduler begins to read start URLs when it opens."""
        if self.server is not None:
            return
        crawler = crawler or self.crawler
        settings = crawler.settings
        self.redis_key = self._key(settings)
        self.redis_batch_size = self._number("redis_batch_size", _batch_size(settings))
        self.redis_encoding = self.redis_encoding or settings.get(
            "REDIS_ENCODING", defaults.REDIS_ENCODING
        )
        longest = settings.get("MAX_IDLE_TIME_BEFORE_CLOSE", defaults.MAX_IDLE_TIME)
        self.max_idle_time = self._number("max_idle_time", longest)
        self.server = connection.from_settings(settings)
        self._mind_overrides(crawler)

    def make_request_from_data(self, data: bytes | str) -> Any:
        """The request of a message; [] if it has no url. A spider may return several, or none."""
        request = request_of(data, encoding=self.redis_encoding or defaults.REDIS_ENCODING)
        return [] if request is None else request

    def next_requests(self) -> Iterator[Request]:
        """Nothing: start URLs are read continuously, not when a spider asks."""
        return iter(())

    def schedule_next_requests(self) -> None:
        """Nothing to do, for the same reason."""

    def spider_idle(self) -> None:
        """Called only where a spider overrides it; keeps the spider while start URLs may come."""
        if self.feeder and self.feeder.feeding:
            raise DontCloseSpider

    def _key(self, settings: BaseSettings) -> str:
        template = self.redis_key or settings.get("REDIS_START_URLS_KEY", defaults.START_URLS_KEY)
        key = str(template) % {"name": self.name}
        if not key.strip():
            hint = "Name the key of the start URLs, as in %(name)s:start_urls."
            raise UnsupportedSetting(name="REDIS_START_URLS_KEY", value=repr(key), hint=hint)
        return key

    def _number(self, name: str, default: Any) -> int:
        value = getattr(self, name)
        value = default if value is None else value
        try:
            return int(value)
        except (TypeError, ValueError) as error:
            hint = f"{name} of the spider {self.name} should be a whole number."
            raise UnsupportedSetting(name=name, value=repr(value), hint=hint) from error

    def _mind_overrides(self, crawler: Crawler) -> None:
        kind = type(self)
        for name in _NOT_CALLED:
            if getattr(kind, name, None) is not getattr(RedisMixin, name, None):
                self.logger.warning("%s is never called: see make_request_from_data", name)
        if kind.spider_idle is not RedisMixin.spider_idle:
            crawler.signals.connect(self.spider_idle, signal=signals.spider_idle)


def _batch_size(settings: BaseSettings) -> int:
    given = settings.getint("REDIS_START_URLS_BATCH_SIZE")
    return given or settings.getint("CONCURRENT_REQUESTS", defaults.REDIS_CONCURRENT_REQUESTS)


class RedisSpider(RedisMixin, Spider):
    """A spider that reads its start URLs from Redis."""

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """As Scrapy makes it."""
        spider = super().from_crawler(crawler, *args, **kwargs)
        spider.setup_redis(crawler)
        return spider


class RedisCrawlSpider(RedisMixin, CrawlSpider):
    """A spider with rules that reads its start URLs from Redis."""

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """As Scrapy makes it."""
        spider = super().from_crawler(crawler, *args, **kwargs)
        spider.setup_redis(crawler)
        return spider
