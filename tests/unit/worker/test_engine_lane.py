"""The settings that a worker's fast engine begins with."""

from __future__ import annotations

import pytest
from scrapy.settings import Settings

from skitter.worker.engine_lane import _without_addon

pytestmark = pytest.mark.unit


def test_a_spiders_own_addons_are_not_overruled() -> None:
    settings = Settings()
    settings.set("ADDONS", {"skitter.addon.Addon": 500, "shop.AddOn": 1}, "project")
    left = _without_addon(settings)
    assert left.getdict("ADDONS") == {"shop.AddOn": 1}
    left.set("ADDONS", {"spider.AddOn": 1}, "spider")
    assert left.getdict("ADDONS") == {"spider.AddOn": 1}
