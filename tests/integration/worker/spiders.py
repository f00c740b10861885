"""Spiders for workers to run: on the lab, and on nothing at all."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import scrapy

from skitter.compat.scrapy_redis.spiders import RedisSpider

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


class Gated(Links):
    """What a run of it has to be like."""

    name = "gated"
    gates = {"least_items": 100}  # noqa: RUF012 - as spiders write it


class Hangs(Links):
    """Its first page is never done with: the loop of its process stands still. `omen` is a file."""

    name = "hangs"
    omen: str

    def parse(self, response: Any, **_: Any) -> Iterator[Any]:
        if not Path(self.omen).exists():
            Path(self.omen).touch()
            time.sleep(3600)
        yield from super().parse(response)


class Marking:
    """An add-on."""

    def update_settings(self, settings: Any) -> None:
        settings.set("MARKED", True, priority="addon")


class Marked(scrapy.Spider):
    """It has an add-on of its own."""

    name = "marked"
    custom_settings = {"ADDONS": {Marking: 100}}  # noqa: RUF012 - as spiders write it

    async def start(self) -> AsyncIterator[Any]:
        yield {"marked": self.settings.getbool("MARKED")}


class Fed(RedisSpider):
    """Waits for start URLs, at the server that its test names."""

    name = "fed"

    @classmethod
    def update_settings(cls, settings: Any) -> None:
        settings.set("REDIS_URL", os.environ.get("FED_REDIS_URL"), priority="spider")
        super().update_settings(settings)

    def parse(self, response: Any) -> Iterator[Any]:
        yield {"url": response.url}


class Broken(scrapy.Spider):
    """Cannot be made."""

    name = "broken"

    def __init__(self, **_: Any) -> None:
        raise ValueError("this spider is broken")
