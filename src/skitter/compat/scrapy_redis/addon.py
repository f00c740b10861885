"""The add-on, for a project that was written for scrapy-redis: reads its settings, adds ours."""

from __future__ import annotations

from typing import TYPE_CHECKING

import structlog

from skitter.addon import Addon as PlainAddon
from skitter.compat.scrapy_redis.connection import server_url
from skitter.compat.scrapy_redis.options import Options
from skitter.engine.crawl import Crawl
from skitter.engine.process import SETTING
from skitter.settings import load_with_origins

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

log = structlog.get_logger(__name__)

FILTER = "scrapy_redis.dupefilter.RFPDupeFilter"
SCHEDULER = "skitter.compat.scrapy_redis.scheduler.Scheduler"


class Addon(PlainAddon):
    """`ADDONS = {"skitter.compat.scrapy_redis.addon.Addon": 500}`; put in by itself otherwise."""

    def update_settings(self, settings: BaseSettings) -> None:
        """Our parts in the place of Scrapy's, set up as scrapy-redis's settings say."""
        options = Options.of(settings, spider=str(self._crawler.spidercls.name))
        _name_server(settings)
        _leave_out_filter(settings)
        if options.depth_first:
            settings.set("DEPTH_PRIORITY", -1, "addon")
        super().update_settings(settings)
        settings.set("SCHEDULER", SCHEDULER, "addon")
        for note in options.notes:
            log.info("a scrapy-redis setting has no effect", note=note)
        if options.persist:
            Crawl.of(self._crawler).tuning.job["dedup"] = options.dupefilter_key


def _leave_out_filter(settings: BaseSettings) -> None:
    """scrapy-redis's filter is what the frontier does anyway: nothing to be told about."""
    given = settings.get("DUPEFILTER_CLASS")
    if isinstance(given, str) and given.endswith(FILTER):
        settings.delete("DUPEFILTER_CLASS", settings.getpriority("DUPEFILTER_CLASS") or 0)


def _name_server(settings: BaseSettings) -> None:
    """REDIS_* name the frontier's server too, unless a setting of Skitter's own does."""
    if settings.get(SETTING) is not None:
        return
    flags = dict(settings.getdict("SKITTER"))
    if "redis.url" in load_with_origins(flags).origins:
        return
    rank = max(settings.getpriority("SKITTER") or 0, settings.getpriority("ADDONS") or 0)
    settings.set("SKITTER", flags | {"redis.url": server_url(settings)}, rank)
