"""The spider of the crawl beside the asking: every page an item, every link followed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import scrapy

if TYPE_CHECKING:
    from collections.abc import Iterator


class Links(scrapy.Spider):
    name = "links"

    def parse(self, response: Any, **_: Any) -> Iterator[Any]:
        yield {"url": response.url, "size": len(response.body)}
        yield from response.follow_all(css="a")
