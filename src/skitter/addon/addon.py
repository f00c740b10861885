"""`ADDONS = {"skitter.addon.Addon": 500}`: any Scrapy project on the frontier.

What is set here has the add-on's priority, so a project's own settings win. Where one of those
cannot work (another scheduler, another downloader), that is said at the start.
"""

from __future__ import annotations

import sys
from types import FrameType
from typing import TYPE_CHECKING, Any, Self

import structlog
from scrapy.downloadermiddlewares.cookies import CookiesMiddleware
from scrapy.downloadermiddlewares.offsite import OffsiteMiddleware
from scrapy.downloadermiddlewares.retry import RetryMiddleware
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.extensions.throttle import AutoThrottle
from scrapy.settings import SETTINGS_PRIORITIES
from scrapy.utils.misc import load_object

from skitter.addon.checks import check_classes
from skitter.addon.cookies import Cookies
from skitter.addon.crawl import Crawl
from skitter.addon.downloader import Downloader
from skitter.addon.dressing import Dressing
from skitter.addon.given import Given
from skitter.addon.handlers import AsyncioHandler, TwistedHandler
from skitter.addon.log_lines import join_scrapy_log
from skitter.addon.mapping import settings_of
from skitter.addon.offsite import Offsite
from skitter.addon.pipeline import SinkPipeline
from skitter.addon.retrying import Retry
from skitter.addon.scheduler import Scheduler
from skitter.errors import UnsupportedScrapy, UnsupportedSetting

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

log = structlog.get_logger(__name__)

LAST = 1_000_000
_UNUSED = {
    "DUPEFILTER_CLASS": "a job's requests are told apart by their canonical URL, method and body",
    "REQUEST_FINGERPRINTER_CLASS": "the same",
    "JOBDIR": "a job is kept by the frontier, and goes on when a worker joins it",
    "SCHEDULER_PRIORITY_QUEUE": "the frontier orders the requests",
    "SCHEDULER_DISK_QUEUE": "the frontier keeps the requests",
    "SCHEDULER_MEMORY_QUEUE": "the frontier keeps the requests",
}
CONCURRENT_ITEMS = 8


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
        ours, tuning = settings_of(settings)
        Crawl(self._crawler, settings=ours, tuning=tuning, args=_arguments(self._crawler))
        for note in (*tuning.notes, *_unused(settings)):
            log.warning("a Scrapy setting has no effect", note=note)
        _take_place(settings, "SCHEDULER", Scheduler)
        _take_place(settings, "DOWNLOADER", Downloader)
        _replace_middlewares(settings)
        _set_handlers(settings)
        settings.set("CONCURRENT_ITEMS", CONCURRENT_ITEMS, "addon")
        settings.set("DUPEFILTER_CLASS", "scrapy.dupefilters.BaseDupeFilter", "addon")
        # It runs Python that is posted to a port of this machine.
        settings.set("REMOTE_CONTROL_ENABLED", False, "addon")  # noqa: FBT003
        settings.set("USER_AGENT", ours.fetch.user_agent, "addon")


def _unused(settings: BaseSettings) -> list[str]:
    """Settings of the parts that ours replace, where a project names them."""
    told = SETTINGS_PRIORITIES["project"]
    return [
        f"{name} is not used: {why}"
        for name, why in _UNUSED.items()
        if (settings.getpriority(name) or 0) >= told and settings[name]
    ]


def _take_place(settings: BaseSettings, name: str, ours: type) -> None:
    settings.set(name, ours, "addon")
    given = load_object(settings[name])
    if ours not in getattr(given, "__mro__", ()):  # Scrapy's schedulers all pass for each other
        hint = f"Remove {name} from the settings; the add-on brings its own."
        raise UnsupportedSetting(name=name, value=settings[name], hint=hint)


def _replace_middlewares(settings: BaseSettings) -> None:
    chain = "DOWNLOADER_MIDDLEWARES"
    _stand_in(settings, OffsiteMiddleware, Offsite, 50)
    _stand_in(settings, RetryMiddleware, Retry, 550)
    _stand_in(settings, CookiesMiddleware, Cookies, 700)
    # Ours reads robots.txt in the request's own turn; its pace and AutoThrottle's are the host's.
    settings.set_in_component_priority_dict(chain, RobotsTxtMiddleware, None)
    settings.set_in_component_priority_dict("EXTENSIONS", AutoThrottle, None)
    settings.setdefault_in_component_priority_dict(chain, Dressing, 390)
    settings.setdefault_in_component_priority_dict("SPIDER_MIDDLEWARES", Given, LAST)
    settings.setdefault_in_component_priority_dict("ITEM_PIPELINES", SinkPipeline, LAST)


def _stand_in(settings: BaseSettings, theirs: type, ours: type, position: int) -> None:
    """Take the place of one of Scrapy's middlewares, wherever the project put it, unless off."""
    chain = "DOWNLOADER_MIDDLEWARES"
    configured = {load_object(key): value for key, value in settings.getdict(chain).items()}
    place = configured.get(theirs, position)
    settings.set_in_component_priority_dict(chain, theirs, None)
    settings.setdefault_in_component_priority_dict(chain, ours, place)


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
