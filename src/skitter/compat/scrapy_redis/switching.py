"""Switches the add-on on for a project that names nothing but classes of scrapy-redis.

A RedisSpider puts it into ADDONS when its crawler is made. For any other spider the scheduler is
the first of our names that Scrapy loads: when it builds the engine, just before the components that
settings describe. So the add-on is put in there; what Scrapy has made by then (the extensions, and
the choice of the downloader) is put right. That needs the crawler, which stands in the engine's
frame, for Scrapy loads classes by name alone.
"""

from __future__ import annotations

import sys
from types import FrameType
from typing import TYPE_CHECKING, Any

from pydispatch import dispatcher  # type: ignore[import-untyped]
from scrapy.core.engine import ExecutionEngine
from scrapy.extensions.remote_control import RemoteControl
from scrapy.extensions.throttle import AutoThrottle
from scrapy.utils.misc import load_object

from skitter.addon import Addon as PlainAddon
from skitter.addon.downloader import Downloader
from skitter.compat.scrapy_redis.addon import Addon
from skitter.engine.process import SETTING
from skitter.errors import AddonOff

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

ADDON = "skitter.compat.scrapy_redis.addon.Addon"
POSITION = 500
_CHAIN = ("DOWNLOADER_MIDDLEWARES", "DOWNLOADER_MIDDLEWARES_BASE")


def put_in(settings: BaseSettings) -> None:
    """Have the add-on among a crawler's ADDONS, in the place of the plain one."""
    addons = dict(settings.getdict("ADDONS"))
    ours = {key: place for key, place in addons.items() if _is_ours(key)}
    if any(issubclass(load_object(key), Addon) for key in ours):
        return
    kept = {key: place for key, place in addons.items() if key not in ours}
    kept[ADDON] = next(iter(ours.values()), POSITION)
    rank = max(settings.getpriority("ADDONS") or 0, settings.getpriority("SCHEDULER") or 0)
    settings.set("ADDONS", kept, rank)


def switch_on_late() -> None:
    """If an engine is being built without the add-on, put it in now."""
    crawler = _crawler_being_built()
    if crawler is None or any(map(_is_plain, crawler.addons.addons)):
        return
    settings, addon = crawler.settings, Addon.from_crawler(crawler)
    crawler.addons.addons.append(addon)  # it will ask for the scheduler too
    settings.frozen = False
    addon.update_settings(settings)
    settings.freeze()
    for unwanted in (AutoThrottle, RemoteControl):
        extension = crawler.get_extension(unwanted)
        if extension:
            _silence(crawler, extension)


def give_downloader(crawler: Crawler) -> None:
    """The add-on's downloader, in place of one that was chosen before the add-on was there."""
    engine: Any = crawler.engine
    if not (crawler.settings.get(SETTING) or any(map(_is_compat, crawler.addons.addons))):
        raise AddonOff(line=f'{{"{ADDON}": {POSITION}}}')
    if isinstance(engine.downloader, Downloader):
        return
    made, settings = engine.downloader.middleware.middlewares, crawler.settings
    before = {name: settings.attributes[name] for name in _CHAIN}
    settings.frozen = False
    try:
        settings.set(_CHAIN[0], {_Made(one): place for place, one in enumerate(made)}, "cmdline")
        settings.set(_CHAIN[1], {}, "cmdline")
        engine.downloader.close()
        engine.downloader = Downloader(crawler)
    finally:
        settings.attributes.update(before)
        settings.freeze()


class _Made:
    """A component that is there already, in the place of its class."""

    def __init__(self, component: Any) -> None:
        kind = type(component)
        self.__module__, self.__qualname__ = kind.__module__, kind.__qualname__
        self._component = component

    def __call__(self) -> Any:
        return self._component

    def __repr__(self) -> str:
        return repr(type(self._component))

    def from_crawler(self, _: Crawler) -> Any:
        return self._component


def _is_compat(addon: Any) -> bool:
    return isinstance(addon, Addon)


def _is_plain(addon: Any) -> bool:
    return isinstance(addon, PlainAddon)


def _is_ours(key: Any) -> bool:
    path = key if isinstance(key, str) else key.__module__
    return path.startswith("skitter.") and issubclass(load_object(key), PlainAddon)


def _crawler_being_built() -> Crawler | None:
    for frame in _frames():
        if frame.f_code is ExecutionEngine.__init__.__code__:
            found: Crawler = frame.f_locals["crawler"]
            return found
    return None


def _frames() -> Iterator[FrameType]:
    frame: FrameType | None = sys._getframe()  # noqa: SLF001 - there is no other way to the crawler
    while frame is not None:
        yield frame
        frame = frame.f_back


def _silence(crawler: Crawler, extension: Any) -> None:
    """An extension that hears no signal does nothing."""
    for signal in list(dispatcher.connections.get(id(crawler), {})):
        for receiver in list(dispatcher.liveReceivers(dispatcher.getReceivers(crawler, signal))):
            if getattr(receiver, "__self__", None) is extension:
                crawler.signals.disconnect(receiver, signal)
