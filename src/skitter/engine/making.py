"""Makes a crawler for the fast engine: Scrapy's own Crawler, with this engine in place of its own.

Add-ons, custom settings, extensions, stats and signals are as Scrapy sets them up; one add-on more
puts Skitter's parts in place. Where no Twisted reactor is installed, none may be: nobody would run
it, and what waits for it would wait for ever.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Self

from scrapy.crawler import Crawler
from scrapy.settings import default_settings
from scrapy.utils.reactor import is_reactor_installed
from scrapy.utils.reactorless import (
    install_reactor_import_hook,
    uninstall_reactor_import_hook,
)

from skitter.engine.engine import Engine
from skitter.engine.placing import take_places
from skitter.engine.support import unsupported
from skitter.errors import UnsupportedByEngine

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy import Spider
    from scrapy.settings import BaseSettings, Settings

ARGS = "SKITTER_ARGS"
PLACE = 500
TUNNEL = "scrapy.core.downloader.handlers.http11.TunnelError"
UNWANTED = (
    "scrapy.extensions.telnet.TelnetConsole",
    "scrapy.extensions.remote_control.RemoteControl",
)


class Placing:
    """The add-on that every crawler of this engine has."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """As Scrapy makes it."""
        return cls(crawler)

    def update_settings(self, settings: BaseSettings) -> None:
        """Put our parts in the place of Scrapy's."""
        given = settings.getdict(ARGS)
        args = {name: str(value) for name, value in given.items()}
        take_places(self._crawler, settings, args=args)
        # It is of Scrapy's own handler, and to load that takes longer than all the rest.
        usual = default_settings.RETRY_EXCEPTIONS
        settings.set("RETRY_EXCEPTIONS", [one for one in usual if one != TUNNEL], "addon")
        # They would open a port for each crawler; off by name, so that they are not even loaded.
        for name in UNWANTED:
            settings["EXTENSIONS_BASE"][name] = None
        settings.set("TELNETCONSOLE_ENABLED", False, "addon")  # noqa: FBT003


def make_engine(
    spider: type[Spider], settings: Settings, *, args: Mapping[str, Any] | None = None
) -> Engine:
    """A crawler's engine, ready to be opened; raises UnsupportedByEngine."""
    with ExitStack() as stack:
        if not is_reactor_installed():
            stack.callback(uninstall_reactor_import_hook, install_reactor_import_hook())
        engine = _make_engine(spider, settings, args=args)
        engine.at_end = stack.pop_all()
    return engine


def _make_engine(
    spider: type[Spider], settings: Settings, *, args: Mapping[str, Any] | None
) -> Engine:
    settings = settings.copy()
    args = dict(args or {})
    settings.set(ARGS, args, "cmdline")
    settings.set("TWISTED_REACTOR_ENABLED", is_reactor_installed(), "cmdline")
    crawler = Crawler(spider, settings)
    # Beside those of the spider's own settings, which the crawler has only now.
    addons = crawler.settings.getdict("ADDONS") | {Placing: PLACE}
    crawler.settings.set("ADDONS", addons, "cmdline")
    _check(crawler)
    crawler.crawling = True
    made: Any = crawler
    # What Crawler.crawl does before it makes an engine; there is no public way to do only that.
    crawler.spider = made._create_spider(**args)  # noqa: SLF001
    made._apply_settings()  # noqa: SLF001
    _check(crawler)  # once more, for add-ons may have set something
    engine = Engine(crawler)
    made.engine = engine
    return engine


def _check(crawler: Crawler) -> None:
    reasons = unsupported(crawler)
    if reasons:
        raise UnsupportedByEngine(spider=crawler.spidercls.name, reasons="; ".join(reasons))
