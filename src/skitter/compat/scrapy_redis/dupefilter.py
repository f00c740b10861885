"""The name that DUPEFILTER_CLASS holds. What is a duplicate is known to the frontier."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from scrapy.dupefilters import BaseDupeFilter

from skitter.errors import UnsupportedSetting

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

NAME = "skitter.compat.scrapy_redis.dupefilter.RFPDupeFilter"


class RFPDupeFilter(BaseDupeFilter):
    """May stay in the settings; it is made only by a scheduler that it cannot work with."""

    def __init__(self, *_: Any, **__: Any) -> None:
        hint = (
            "It comes with its scheduler: set "
            'SCHEDULER = "skitter.compat.scrapy_redis.scheduler.Scheduler", or leave this one out.'
        )
        raise UnsupportedSetting(name="DUPEFILTER_CLASS", value=NAME, hint=hint)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:  # noqa: ARG003
        """As a scheduler makes it."""
        return cls()

    @classmethod
    def from_settings(cls, settings: BaseSettings) -> Self:  # noqa: ARG003
        """As an older scheduler makes it."""
        return cls()

    @classmethod
    def from_spider(cls, spider: Spider) -> Self:  # noqa: ARG003
        """As scrapy-redis makes it."""
        return cls()
