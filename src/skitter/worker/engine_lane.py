"""A lane's engine: the fast one where it can run the spider, else Scrapy's own.

What the fast one cannot run is told by name, once for each lane that opens.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import structlog

from skitter.engine.making import make_engine
from skitter.engine.process import SETTING
from skitter.errors import UnsupportedByEngine
from skitter.intake.declaring import gates_text
from skitter.worker.crawler_lane import CrawlerLane
from skitter.worker.project import ADDON, path_of

if TYPE_CHECKING:
    from scrapy.settings import Settings

    from skitter.engine.engine import Engine
    from skitter.engine.process import Process
    from skitter.frontier.lanes import LaneSpec
    from skitter.worker.lane_keeper import OpenLane
    from skitter.worker.project import Project

log = structlog.get_logger(__name__)


class EngineLane:
    """A fast engine that is at work."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @classmethod
    async def open(cls, spec: LaneSpec, *, project: Project, process: Process) -> EngineLane:
        """Start a spider with its arguments; raises UnsupportedByEngine, and what it raises."""
        settings = _without_addon(project.settings.copy())
        settings.set(SETTING, process, priority="cmdline")
        engine = make_engine(project.spiders[spec.spider], settings, args=spec.args)
        await engine.open()
        return cls(engine)

    async def ended(self) -> None:
        """Return when the engine has ended."""
        await self._engine.ended()

    async def close(self) -> None:
        """Let it finish what it has in hand, and end it."""
        await self._engine.stop_async()


async def open_lane(spec: LaneSpec, *, project: Project, process: Process) -> OpenLane:
    """Open a lane on the engine that the settings name."""
    process.intake.declare(spec.lane, gates_text(project.spiders[spec.spider], spec.args))
    chosen = process.settings.worker.engine
    if chosen != "scrapy":
        try:
            return await EngineLane.open(spec, project=project, process=process)
        except UnsupportedByEngine as error:
            if chosen == "fast":
                raise
            for reason in error.reasons.split("; "):
                log.warning("spider runs on Scrapy's engine", spider=spec.spider, reason=reason)
    return await CrawlerLane.open(spec, project=project, process=process)


def _without_addon(settings: Settings) -> Settings:
    """The add-on puts Scrapy's engine on the frontier; here there is none."""
    addons: dict[Any, Any] = settings.getdict("ADDONS")
    kept = {key: place for key, place in addons.items() if path_of(key) not in _ADDON}
    settings.set("ADDONS", kept, priority="project")
    return settings


_ADDON = (ADDON, "skitter.addon.addon.Addon")
