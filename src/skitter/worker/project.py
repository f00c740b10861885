"""Spiders by name, from a Scrapy project or from modules, and the settings they run under.

A module that does not load takes nothing down: its error is kept beside the spiders of the others.
Only a child imports this, for it brings in Scrapy.
"""

from __future__ import annotations

import pkgutil
import sys
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import structlog
from scrapy.addons import AddonManager
from scrapy.settings import Settings as ScrapySettings
from scrapy.spiderloader import SpiderLoader
from scrapy.utils.conf import init_env
from scrapy.utils.misc import load_object
from scrapy.utils.project import get_project_settings
from scrapy.utils.spider import iter_spider_classes

from skitter.errors import NothingToRun

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scrapy import Spider
    from scrapy.settings import BaseSettings

log = structlog.get_logger(__name__)

ADDON = "skitter.addon.Addon"
_OURS = ("skitter.addon.", "skitter.compat.")
REACTOR = "twisted.internet.asyncioreactor.AsyncioSelectorReactor"
FORCED = {
    # Each would open a port of its own for every lane; one of them runs code that is sent to it.
    "TELNETCONSOLE_ENABLED": False,
    "REMOTE_CONTROL_ENABLED": False,
    # All lanes share the process's reactor.
    "TWISTED_REACTOR": REACTOR,
    "TWISTED_REACTOR_ENABLED": True,
}
SHIPPED = "skitter.spiders"
PLAIN_LOADERS = (SpiderLoader, "scrapy.spiderloader.SpiderLoader")


@dataclass
class Project:
    """What a worker can run."""

    settings: ScrapySettings
    spiders: dict[str, type[Spider]] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)

    def load(self, modules: Sequence[str] = (), *, shipped: bool = False) -> None:
        """Load the spiders of these modules, or else those that the settings name.

        shipped: those that come with Skitter as well, under names that are free. Raises
        NothingToRun if there is none.
        """
        AddonManager.load_pre_crawler_settings(self.settings)
        loader = self.settings["SPIDER_LOADER_CLASS"]
        places = list(modules or self.settings.getlist("SPIDER_MODULES"))
        if not modules and loader not in PLAIN_LOADERS:
            self._load_by(loader)
        else:
            self._load_modules(places)
        if shipped:
            own, self.spiders = self.spiders, {}
            self._load_modules([SHIPPED])
            self.spiders |= own
        if not self.spiders:
            reasons = "; ".join(self.errors.values()) or "there is none"
            raise NothingToRun(places=", ".join(places) or str(Path.cwd()), reasons=reasons)

    def _load_by(self, loader: Any) -> None:
        """A loader of the project's own is asked for each spider."""
        found = load_object(loader).from_settings(self.settings)
        self.spiders = {name: found.load(name) for name in found.list()}

    def _load_modules(self, names: Sequence[str]) -> None:
        for name in names:
            for module in self._walk(name):
                for spider in iter_spider_classes(module):
                    self.spiders[spider.name] = spider

    def _walk(self, name: str) -> Iterator[Any]:
        """A module and all inside it, but for those that fail."""
        try:
            module = import_module(name)
        except Exception as error:
            log.exception("module not loaded", module=name)
            self.errors[name] = f"{type(error).__name__}: {error}"
            return
        yield module
        for found in pkgutil.iter_modules(getattr(module, "__path__", ())):
            yield from self._walk(f"{name}.{found.name}")


def load_settings() -> ScrapySettings:
    """The settings of the project whose scrapy.cfg is nearest, made fit for a worker."""
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    init_env()
    settings = get_project_settings()
    if settings.getdict("SKITTER"):
        log.warning("a worker does not read SKITTER in Scrapy's settings: use skitter.yaml")
    add_addon(settings, priority="project")
    for name, value in FORCED.items():
        settings.set(name, value, priority="cmdline")
    return settings


def add_addon(settings: BaseSettings, *, priority: str) -> None:
    """Have the add-on among a project's, or a spider's own, unless one of ours is there."""
    addons = dict(settings.getdict("ADDONS"))
    if not any(path_of(key).startswith(_OURS) for key in addons):
        settings.set("ADDONS", addons | {ADDON: 500}, priority=priority)


def path_of(key: Any) -> str:
    """The path of a component that is named by it, or given as a class."""
    return key if isinstance(key, str) else f"{key.__module__}.{key.__qualname__}"
