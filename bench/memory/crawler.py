"""The process that is watched: `python -m bench.memory.crawler ORDERS`, with JSON for orders."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from typing import TYPE_CHECKING, Any

import psutil
import scrapy
from scrapy.settings import Settings
from scrapy.utils.log import configure_logging

from skitter.engine.running import run_spider
from skitter.sinks.sink import SINKS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Sequence

    from scrapy.http import Response

    from skitter.sinks import Item

SAMPLE_S = 0.5
PUT_S = 0.2
WAIT_S = 2.0


class SlowSink:
    """Keeps nothing, and takes its time for it."""

    async def open(self) -> None:
        """Nothing to open."""

    async def put(self, items: Sequence[Item]) -> None:
        """Done when a slow store would be."""
        if items:
            await asyncio.sleep(PUT_S)

    async def close(self) -> None:
        """Nothing to close."""


class Pages(scrapy.Spider):
    """So many items of each page, and all its links; before them, so many hosts that are not."""

    name = "pages"
    url: str
    items = "1"
    dead = "0"
    seen = 0

    async def start(self) -> AsyncIterator[Any]:
        for number in range(int(self.dead)):
            meta = {"dont_obey_robotstxt": True}
            yield scrapy.Request(f"http://h{number}.nowhere/", meta=meta)
        yield scrapy.Request(self.url)

    def parse(self, response: Response) -> Iterator[Any]:
        self.seen += 1
        title = response.css("title::text").get()
        for number in range(int(self.items)):
            yield {"url": response.url, "number": number, "title": title, "text": "text " * 20}
        for href in response.css("a::attr(href)").getall():
            yield response.follow(href)


class WaitingPages(Pages):
    """A callback that waits for something, as one does that asks a database."""

    name = "waiting pages"

    async def wait(self, response: Response) -> AsyncIterator[Any]:
        await asyncio.sleep(WAIT_S)
        for output in super().parse(response):
            yield output

    parse: Any = wait


class Sampler:
    """A Scrapy extension that prints pages and memory, from a thread of its own."""

    def __init__(self, crawler: Any) -> None:
        self._crawler = crawler
        self._over = threading.Event()
        crawler.signals.connect(self._open, signal=scrapy.signals.spider_opened)
        crawler.signals.connect(self._close, signal=scrapy.signals.spider_closed)

    from_crawler = classmethod(lambda cls, crawler: cls(crawler))

    def _open(self) -> None:
        threading.Thread(target=self._run, daemon=True).start()

    def _close(self) -> None:
        self._over.set()
        self._tell()

    def _run(self) -> None:
        while not self._over.wait(SAMPLE_S):
            self._tell()

    def _tell(self) -> None:
        rss_mb = psutil.Process().memory_info().rss / 1e6
        given_up = self._crawler.stats.get_value("retry/max_reached", 0)
        told = {"pages": self._crawler.spider.seen + given_up, "rss_mb": rss_mb}
        print(json.dumps(told), flush=True)


def main() -> None:
    orders = json.loads(sys.argv[1])
    SINKS["slow"] = lambda _url: SlowSink()
    settings = Settings(
        {
            "EXTENSIONS": {Sampler: 0},
            "LOG_LEVEL": "CRITICAL",
            "SKITTER_JOB": "bench",
            "SKITTER": orders["skitter"],
        }
    )
    configure_logging(settings)
    run_spider(WaitingPages if orders["waiting"] else Pages, settings, args=orders["args"])


if __name__ == "__main__":
    main()
