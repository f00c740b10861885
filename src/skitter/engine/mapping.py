"""Skitter's settings for a Scrapy project: its own sources, then what the project's say.

`SKITTER = {"redis.url": …}` in a project sets any of Skitter's. Scrapy's own tuning settings, where
a project sets them, are laid over that; a worker's process has its settings already.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skitter.engine.process import SETTING
from skitter.policies.scrapy_settings import ScrapyTuning, from_scrapy, told
from skitter.settings import Settings, load_settings

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings


def settings_of(scrapy_settings: BaseSettings) -> tuple[Settings, ScrapyTuning]:
    """Our settings for a project, and what its own say of jobs and hosts."""
    tuning = from_scrapy(told(scrapy_settings))
    process = scrapy_settings.get(SETTING)
    if process is not None:
        return tuning.over(process.settings), tuning
    flags: dict[str, Any] = dict(scrapy_settings.getdict("SKITTER"))
    return tuning.over(load_settings(flags)), tuning
