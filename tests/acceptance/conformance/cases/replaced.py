"""Parts of Scrapy's own that a project replaces or turns off."""

# ruff: noqa: RUF012 - as spiders are written

from __future__ import annotations

import logging
from typing import Any

from scrapy.logformatter import LogFormatter
from scrapy.pipelines import ItemPipelineManager
from scrapy.statscollectors import MemoryStatsCollector

from tests.acceptance.conformance.cases.case import Case


class Told(LogFormatter):
    """Tells of each page and each item, at a level that is shown."""

    def crawled(self, _request: Any, response: Any, spider: Any) -> Any:
        spider.logger.info("crawled: %s", response.status)
        return {"level": logging.DEBUG, "msg": "crawled", "args": {}}

    def scraped(self, item: Any, _response: Any, _spider: Any) -> Any:
        return {"level": logging.INFO, "msg": "scraped: %(item)s", "args": {"item": item}}


class Collector(MemoryStatsCollector):
    """A collector that was written when these methods got the spider."""

    def open_spider(self, spider: Any) -> None:  # type: ignore[override]
        super().open_spider()
        self.set_value("case/opened", spider.name)

    def close_spider(self, spider: Any, reason: str) -> None:  # type: ignore[override]
        self.set_value("case/closed", f"{spider.name}: {reason}")
        super().close_spider(reason=reason)


class Processor(ItemPipelineManager):
    """Runs the pipelines, and counts."""

    async def process_item_async(self, item: Any) -> Any:
        crawler: Any = self.crawler
        crawler.stats.inc_value("case/processed")
        return await super().process_item_async(item | {"processed": True})


class Adding:
    """An add-on that brings a pipeline and changes settings."""

    def update_settings(self, settings: Any) -> None:
        settings.set("BOT_NAME", "added", "addon")
        settings.set("DEPTH_STATS_VERBOSE", True, "addon")
        settings["ITEM_PIPELINES"][f"{__name__}.Added"] = 5


class Added:
    def process_item(self, item: Any) -> Any:
        return item | {"added": True}


class OwnLogFormatter(Case):
    """LOG_FORMATTER: what it says of pages and items is said."""

    name = "log_formatter"
    custom_settings = {"LOG_FORMATTER": f"{__name__}.Told"}
    paths = ("/echo/1", "/echo/2")
    gives = 2


class OwnStats(Case):
    """STATS_CLASS, of an older kind."""

    name = "stats_class"
    custom_settings = {"STATS_CLASS": f"{__name__}.Collector"}
    paths = ("/echo/1",)


class WithoutCoreStats(Case):
    """CoreStats turned off: nobody counts items and responses."""

    name = "core_stats_off"
    custom_settings = {"EXTENSIONS": {"scrapy.extensions.corestats.CoreStats": None}}
    paths = ("/echo/1",)


class OwnProcessor(Case):
    """ITEM_PROCESSOR."""

    name = "item_processor"
    custom_settings = {"ITEM_PROCESSOR": f"{__name__}.Processor"}
    paths = ("/echo/1",)


class AddOn(Case):
    """ADDONS in a spider's own settings."""

    name = "addons"
    custom_settings = {"ADDONS": {f"{__name__}.Adding": 1}}
    paths = ("/echo/1",)

    def parse(self, _response: Any) -> Any:
        known = self.crawler.get_addon(Adding) is not None
        yield {"bot": self.settings["BOT_NAME"], "known": known}
