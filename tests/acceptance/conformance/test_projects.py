"""The spiders that people really write give the same output under both engines."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from tests.acceptance.conformance.running import Order
from tests.projects.serving import SiteProcess

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.acceptance.conformance.running import EngineProcess

pytestmark = pytest.mark.acceptance

ITEMS = {
    "quotes": 44,  # page by page, and each author once
    "diary": 42,  # the same behind a login
    "members": 25,  # a login, and letters that know their reader by a cookie
    "offers": 34,  # books page by page, each with a page of its own, by an item loader
    "shelves": 57,  # a CrawlSpider with rules
    "catalogue": 61,  # a SitemapSpider, from robots.txt on
    "library": 19,  # a JSON API with a token and a cursor
    "scroll": 23,  # a page that scrolls on without end
    "news": 9,  # a feed
    "pricelist": 14,  # a feed in CSV
    "stockroom": 7,  # middlewares, pipelines and an extension of its own
}
STATS = ("item_scraped_count", "item_dropped_count", "finish_reason", "bell/rung")


@pytest.fixture(scope="module")
def shop() -> Iterator[SiteProcess]:
    with SiteProcess() as site:
        yield site


@pytest.mark.parametrize("spider", ITEMS)
def test_a_spider_gives_the_same_under_both_engines(
    spider: str,
    shop: SiteProcess,
    engines: tuple[EngineProcess, EngineProcess],
    settings: dict[str, Any],
) -> None:
    items, asked, stats = [], [], []
    for engine in engines:
        before = len(shop.asked())
        engine.begin(Order(spider, settings, {"site": shop.url}, project="bookshop.settings"))
        outcome = engine.outcome()
        items.append(Counter(outcome.items))
        asked.append(Counter(shop.asked()[before + 1 :]))
        stats.append({name: outcome.stats.get(name) for name in STATS})
    assert items[1] == items[0]
    assert asked[1] == asked[0]
    assert stats[1] == stats[0]
    assert items[0].total() == ITEMS[spider]
