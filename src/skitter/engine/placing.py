"""Puts Skitter's parts in the place of Scrapy's, in the settings of one crawler.

What is set here has an add-on's priority, so a project's own settings win. What ours make useless
is told at the start.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import structlog
from scrapy.downloadermiddlewares.cookies import CookiesMiddleware
from scrapy.downloadermiddlewares.offsite import OffsiteMiddleware
from scrapy.downloadermiddlewares.retry import RetryMiddleware
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.extensions.throttle import AutoThrottle
from scrapy.settings import SETTINGS_PRIORITIES
from scrapy.utils.misc import load_object

from skitter.engine.cookies import Cookies
from skitter.engine.crawl import Crawl
from skitter.engine.dressing import Dressing
from skitter.engine.mapping import settings_of
from skitter.engine.offsite import Offsite
from skitter.engine.pipeline import SinkPipeline
from skitter.engine.retrying import Retry

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

log = structlog.get_logger(__name__)

CHAIN = "DOWNLOADER_MIDDLEWARES"
STAND_INS: tuple[tuple[type, type, int], ...] = (
    (OffsiteMiddleware, Offsite, 50),
    (RetryMiddleware, Retry, 550),
    (CookiesMiddleware, Cookies, 700),
)
DRESSING = 390
LAST = 1_000_000
CONCURRENT_ITEMS = 8
_UNUSED = {
    "DUPEFILTER_CLASS": "a job's requests are told apart by their canonical URL, method and body",
    "REQUEST_FINGERPRINTER_CLASS": "the same",
    "JOBDIR": "a job is kept by the frontier, and goes on when a worker joins it",
    "SCHEDULER_PRIORITY_QUEUE": "the frontier orders the requests",
    "SCHEDULER_DISK_QUEUE": "the frontier keeps the requests",
    "SCHEDULER_MEMORY_QUEUE": "the frontier keeps the requests",
}


def take_places(crawler: Crawler, settings: BaseSettings, *, args: dict[str, str]) -> Crawl:
    """Set what both engines need; what its parts share, for a crawler with these arguments."""
    ours, tuning = settings_of(settings)
    crawl = Crawl(crawler, settings=ours, tuning=tuning, args=args)
    for note in (*tuning.notes, *_unused(settings)):
        log.warning("a Scrapy setting has no effect", note=note)
    _replace_middlewares(settings)
    settings.set("DUPEFILTER_CLASS", "scrapy.dupefilters.BaseDupeFilter", "addon")
    # It runs Python that is posted to a port of this machine.
    settings.set("REMOTE_CONTROL_ENABLED", False, "addon")  # noqa: FBT003
    _set_default(settings, "CONCURRENT_ITEMS", CONCURRENT_ITEMS)
    _set_default(settings, "USER_AGENT", ours.fetch.user_agent)
    _set_default(settings, "DOWNLOAD_TIMEOUT", ours.fetch.timeout_s)
    _set_default(settings, "DOWNLOAD_MAXSIZE", ours.fetch.max_body_bytes)
    return crawl


def _set_default(settings: BaseSettings, name: str, value: Any) -> None:
    """Where nobody has said anything, another add-on among them."""
    addon = SETTINGS_PRIORITIES["addon"]
    if (settings.getpriority(name) or 0) < addon:
        settings.set(name, value, addon)


def _unused(settings: BaseSettings) -> list[str]:
    """Settings of the parts that ours replace, where a project names them."""
    told = SETTINGS_PRIORITIES["project"]
    return [
        f"{name} is not used: {why}"
        for name, why in _UNUSED.items()
        if (settings.getpriority(name) or 0) >= told and settings[name]
    ]


def _replace_middlewares(settings: BaseSettings) -> None:
    for theirs, ours, position in STAND_INS:
        _stand_in(settings, theirs, ours, position)
    # Ours reads robots.txt in the request's own turn; its pace and AutoThrottle's are the host's.
    settings.set_in_component_priority_dict(CHAIN, RobotsTxtMiddleware, None)
    settings.set_in_component_priority_dict("EXTENSIONS", AutoThrottle, None)
    settings.setdefault_in_component_priority_dict(CHAIN, Dressing, DRESSING)
    settings.setdefault_in_component_priority_dict("ITEM_PIPELINES", SinkPipeline, LAST)


def _stand_in(settings: BaseSettings, theirs: type, ours: type, position: int) -> None:
    """Take the place of one of Scrapy's middlewares, wherever the project put it, unless off."""
    configured = {load_object(key): value for key, value in settings.getdict(CHAIN).items()}
    place = configured.get(theirs, position)
    settings.set_in_component_priority_dict(CHAIN, theirs, None)
    settings.setdefault_in_component_priority_dict(CHAIN, ours, place)
