"""The spiders of the project in this folder, if there is one, and who is to run a target."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import structlog

from skitter.errors import NoSpiders
from skitter.worker.orders import Restriction
from skitter.worker.run import Crew, find_project

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skitter.cli.target import Target

log = structlog.get_logger(__name__)

SHIPPED = "skitter.spiders"


def in_project() -> bool:
    """Whether there is a Scrapy project here or above."""
    try:
        find_project(Path.cwd())
    except NoSpiders:
        return False
    return True


def project_spiders() -> Mapping[str, type[Any]]:
    """Their classes by name; none where there is no project. Its code is loaded for it, once."""
    return _loaded() if in_project() else {}


def judged_spiders() -> Mapping[str, type[Any]]:
    """Those whose gates count: Skitter's own, and the project's where it loads.

    What does not load has been told of by those who were to run it.
    """
    try:
        own = project_spiders()
    except Exception as error:  # noqa: BLE001 - it is the project's own code
        log.warning("the project's gates are not known", error=str(error))
        own = {}
    return _shipped() | dict(own)


@cache
def _shipped() -> dict[str, type[Any]]:
    from skitter.spiders.ecommerce import EcommerceSpider  # noqa: PLC0415 - loads Scrapy
    from skitter.spiders.finance import FinanceSpider  # noqa: PLC0415 - the same

    return {spider.name: spider for spider in (EcommerceSpider, FinanceSpider)}


@cache
def _loaded() -> Mapping[str, type[Any]]:
    from skitter.worker.project import Project, load_settings  # noqa: PLC0415 - loads Scrapy

    project = Project(load_settings())
    project.load()
    return project.spiders


def crew_for(target: Target) -> Crew:
    """Workers that load what the target needs, and keep to its spider."""
    restriction = Restriction(only=(target.spider,))
    if not in_project():
        return Crew(modules=(SHIPPED,), restriction=restriction)
    return Crew(restriction=restriction, shipped=target.shipped)


def crew_for_all() -> Crew:
    """Workers for every job: the project's spiders, and those that come with Skitter."""
    return Crew(shipped=True) if in_project() else Crew(modules=(SHIPPED,))
