"""The spiders of the project in this folder, if there is one, and who is to run a target."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skitter.errors import NoSpiders
from skitter.worker.orders import Restriction
from skitter.worker.run import Crew, find_project

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skitter.cli.target import Target

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
    return _loaded(shipped=False) if in_project() else {}


def spider_classes() -> Mapping[str, type[Any]]:
    """The same, and those that come with Skitter."""
    return _loaded(shipped=True)


@cache
def _loaded(*, shipped: bool) -> Mapping[str, type[Any]]:
    from skitter.worker.project import Project, load_settings  # noqa: PLC0415 - loads Scrapy

    project = Project(load_settings())
    project.load(() if in_project() else (SHIPPED,), shipped=shipped)
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
