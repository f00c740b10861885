"""What of a project the fast engine cannot run: said by name, before anything is crawled.

A spider with any of it runs on the compatible engine, which is Scrapy's own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.extensions.throttle import AutoThrottle
from scrapy.settings import default_settings
from scrapy.utils.misc import load_object

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

_REPLACED = ("DOWNLOADER", "SCHEDULER", "DUPEFILTER_CLASS")
_UNUSED_HERE = "scrapy.dupefilters.BaseDupeFilter"
# By name: to load them takes as long as all the rest.
_HANDLERS = frozenset(
    f"scrapy.core.downloader.handlers.{name}"
    for name in (
        "http11.HTTP11DownloadHandler",
        "_aiohttp.AiohttpDownloadHandler",
        "_httpx.HttpxDownloadHandler",
    )
)
_TWISTEDS = ("DOWNLOADER_CLIENTCONTEXTFACTORY", "DOWNLOADER_CLIENT_TLS_METHOD")
_REACTOR = default_settings.TWISTED_REACTOR


def unsupported(crawler: Crawler) -> list[str]:
    """One line for each thing in a crawler's settings that needs the compatible engine."""
    settings = crawler.settings
    parts = (_parts, _handlers, _tls, _reactor, _kinds)
    return [line for part in parts for line in part(settings)]


def _parts(settings: BaseSettings) -> Iterator[str]:
    for name in _REPLACED:
        value = settings[name]
        if value and _shown(value) not in (getattr(default_settings, name), _UNUSED_HERE):
            yield f"{name} = {_shown(value)}: the engine has a part of its own in its place"


def _handlers(settings: BaseSettings) -> Iterator[str]:
    handlers: dict[str, Any] = settings.getwithbase("DOWNLOAD_HANDLERS").copy_to_dict()
    for scheme in ("http", "https"):
        kind = handlers.get(scheme)
        if kind and _shown(kind) not in _HANDLERS:
            yield f"DOWNLOAD_HANDLERS[{scheme!r}] = {_shown(kind)}: the engine fetches by itself"


def _tls(settings: BaseSettings) -> Iterator[str]:
    for name in _TWISTEDS:
        value = settings[name]
        if value and value != getattr(default_settings, name):
            yield f"{name} = {_shown(value)}: it is of Twisted's client, and the engine has another"


def _reactor(settings: BaseSettings) -> Iterator[str]:
    value = settings["TWISTED_REACTOR"]
    if value and value != _REACTOR:
        yield f"TWISTED_REACTOR = {_shown(value)}: the engine runs on asyncio"


def _kinds(settings: BaseSettings) -> Iterator[str]:
    for name, kind in _enabled(settings, "EXTENSIONS"):
        if issubclass(kind, AutoThrottle) and kind is not AutoThrottle:
            yield f"EXTENSIONS has {name}: there are no download slots that it could slow down"
    for name, kind in _enabled(settings, "ADDONS"):
        if kind.__module__.startswith(("skitter.addon.", "skitter.compat.")):
            yield f"ADDONS has {name}, which is made for Scrapy's engine"


def _enabled(settings: BaseSettings, name: str) -> Iterator[tuple[str, type]]:
    for key, place in settings.getdict(name).items():
        kind = load_object(key)
        if place is not None and isinstance(kind, type):
            yield _shown(key), kind


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else f"{value.__module__}.{value.__qualname__}"
