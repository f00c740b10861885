"""Spiders by name for commands that ask a class something: the project's, and the shipped ones."""

from __future__ import annotations

from functools import lru_cache
from typing import Any


@lru_cache(maxsize=1)
def spider_classes() -> dict[str, type[Any]]:
    """The spiders of the project around this folder, if there is one, over those of Skitter."""
    # Loads Scrapy, which commands that do not ask need not wait for.
    from skitter.worker.project import Project, load_settings  # noqa: PLC0415

    project = Project(load_settings())
    project.load(["skitter.spiders", *project.settings.getlist("SPIDER_MODULES")])
    return dict(project.spiders)
