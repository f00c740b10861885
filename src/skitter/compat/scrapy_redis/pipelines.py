"""Items into a Redis list, besides the sink: there before the page that gave them is settled."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Self

from scrapy.utils.misc import load_object
from scrapy.utils.serialize import ScrapyJSONEncoder

from skitter.compat.scrapy_redis import connection, defaults

if TYPE_CHECKING:
    from collections.abc import Callable

    from redis.asyncio import Redis
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

default_serialize = ScrapyJSONEncoder().encode


class RedisPipeline:
    """Appends each item to REDIS_ITEMS_KEY, as REDIS_ITEMS_SERIALIZER or JSON writes it.

    server is a blocking client, for subclasses: a `_process_item` of theirs runs in a thread.
    client is the event loop's own.
    """

    client: Redis | None = None
    crawler: Crawler | None = None

    def __init__(
        self,
        server: Any,
        key: str = defaults.PIPELINE_KEY,
        serialize_func: Callable[[Any], Any] = default_serialize,
    ) -> None:
        self.server = server
        self.key = key
        self.serialize = serialize_func

    @classmethod
    def from_settings(cls, settings: BaseSettings) -> Self:
        """With what the settings say."""
        given: dict[str, Any] = {"server": connection.from_settings(settings)}
        if settings.get("REDIS_ITEMS_KEY"):
            given["key"] = settings["REDIS_ITEMS_KEY"]
        if settings.get("REDIS_ITEMS_SERIALIZER"):
            given["serialize_func"] = load_object(settings["REDIS_ITEMS_SERIALIZER"])
        return cls(**given)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """As Scrapy makes it."""
        pipeline = cls.from_settings(crawler.settings)
        pipeline.crawler = crawler
        pipeline.client = connection.async_from_settings(crawler.settings)
        return pipeline

    async def process_item(self, item: Any, spider: Any = None) -> Any:
        """Append an item; done when Redis has it."""
        spider = spider or (self.crawler.spider if self.crawler else None)
        if self.client is None or self._in_own_way:
            return await asyncio.to_thread(self._process_item, item, spider)
        pushed: Any = self.client.rpush(self.item_key(item, spider), self.serialize(item))
        await pushed
        return item

    @property
    def _in_own_way(self) -> bool:
        mine = getattr(self._process_item, "__func__", None)
        return mine is not RedisPipeline._process_item

    def _process_item(self, item: Any, spider: Any) -> Any:
        """The same with the blocking client, in a thread."""
        self.server.rpush(self.item_key(item, spider), self.serialize(item))
        return item

    def item_key(self, item: Any, spider: Any) -> str:  # noqa: ARG002 - for subclasses
        """The list for an item."""
        return self.key % {"spider": spider.name}

    async def close_spider(self) -> None:
        """Close the connection."""
        if self.client is not None:
            await self.client.aclose()
