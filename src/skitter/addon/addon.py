"""`ADDONS = {"skitter.addon.Addon": 500}`: any Scrapy project on the frontier.

What is set here has the add-on's priority, so a project's own settings win. Where one of those
cannot work (another scheduler, another downloader), that is said at the start.
"""

from __future__ import annotations

import sys
from types import FrameType
from typing import TYPE_CHECKING, Any, Self

from scrapy.settings import SETTINGS_PRIORITIES
from scrapy.utils.misc import load_object

from skitter.addon.checks import check_classes
from skitter.addon.downloader import Downloader
from skitter.addon.given import Given
from skitter.addon.handlers import AsyncioHandler, TwistedHandler
from skitter.addon.scheduler import Scheduler
from skitter.engine.log_lines import join_scrapy_log
from skitter.engine.placing import LAST, take_places
from skitter.errors import UnsupportedScrapy, UnsupportedSetting

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings


class Addon:
    """Scrapy's own engine on Skitter's frontier."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """As Scrapy makes it."""
        return cls(crawler)

    def update_settings(self, settings: BaseSettings) -> None:
        """Put our parts in the place of Scrapy's."""
        check_classes()
        join_scrapy_log()
        take_places(self._crawler, settings, args=_arguments(self._crawler))
        _take_place(settings, "SCHEDULER", Scheduler)
        _take_place(settings, "DOWNLOADER", Downloader)
        settings.setdefault_in_component_priority_dict("SPIDER_MIDDLEWARES", Given, LAST)
        _set_handlers(settings)


def _take_place(settings: BaseSettings, name: str, ours: type) -> None:
    settings.set(name, ours, "addon")
    given = load_object(settings[name])
    if ours not in getattr(given, "__mro__", ()):  # Scrapy's schedulers all pass for each other
        hint = f"Remove {name} from the settings; the add-on brings its own."
        raise UnsupportedSetting(name=name, value=settings[name], hint=hint)


def _set_handlers(settings: BaseSettings) -> None:
    """Ours in place of Scrapy's defaults; a project's own handlers stay."""
    ours = TwistedHandler if settings.getbool("TWISTED_REACTOR_ENABLED") else AsyncioHandler
    handlers: dict[str, Any] = settings.getdict("DOWNLOAD_HANDLERS")
    for scheme in ("http", "https"):
        handlers.setdefault(scheme, ours)
    # Scrapy sets its defaults for crawlers without a reactor later, as a project would.
    priority = max(settings.getpriority("DOWNLOAD_HANDLERS") or 0, SETTINGS_PRIORITIES["project"])
    settings.set("DOWNLOAD_HANDLERS", handlers, priority)


def _arguments(crawler: Crawler) -> dict[str, str]:
    """The spider's arguments, which are part of its lane.

    Scrapy does not keep them; they stand in the frame of the crawl that is beginning.
    """
    if crawler.settings.get("SKITTER_ARGS") is not None:
        given = crawler.settings.getdict("SKITTER_ARGS")
        return {name: str(value) for name, value in given.items()}
    # There is no other way to what `crawl` was called with.
    frame: FrameType | None = sys._getframe()  # noqa: SLF001
    while frame is not None:
        names = frame.f_locals
        if frame.f_code.co_name in ("crawl", "crawl_async") and names.get("self") is crawler:
            return {name: str(value) for name, value in names.get("kwargs", {}).items()}
        frame = frame.f_back
    differences = "it loads add-ons before the spider's arguments are known"
    raise UnsupportedScrapy(version="this one", differences=differences)
