"""Spiders for workers to run: on the lab, and on nothing at all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import scrapy

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator


class Links(scrapy.Spider):
    """Follows every link, and gives an item for every page. `seeds` are URLs with commas."""

    name = "links"
    seeds: str
    custom_settings = {"CONCURRENT_REQUESTS": 8}  # noqa: RUF012 - as spiders write it

    async def start(self) -> AsyncIterator[Any]:
        yield {"started": self.name, "url": "start"}
        for url in self.seeds.split(","):
            yield scrapy.Request(url)

    def parse(self, response: Any, **_: Any) -> Iterator[Any]:
        yield {"url": response.url}
        yield from response.follow_all(css="a")


class Others(Links):
    name = "others"


class Broken(scrapy.Spider):
    """Cannot be made."""

    name = "broken"

    def __init__(self, **_: Any) -> None:
        raise ValueError("this spider is broken")
