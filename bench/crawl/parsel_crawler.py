"""The same pages by Crawlee at its best: ParselCrawler, its impit client, storage in memory."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urljoin

import uvloop
from crawlee import ConcurrencySettings
from crawlee.crawlers import ParselCrawler, ParselCrawlingContext
from crawlee.http_clients import ImpitHttpClient
from crawlee.storage_clients import MemoryStorageClient

from bench.crawl.ordered import CONCURRENCY, ITEMS, Order
from bench.crawl.page_fields import LINKS, fields

if TYPE_CHECKING:
    from typing import TextIO


def crawler(items: TextIO) -> ParselCrawler:
    """One that takes the fields and follows the links."""
    made = ParselCrawler(
        http_client=ImpitHttpClient(),
        storage_client=MemoryStorageClient(),
        concurrency_settings=ConcurrencySettings(
            min_concurrency=CONCURRENCY,
            max_concurrency=CONCURRENCY,
            desired_concurrency=CONCURRENCY,
        ),
        use_session_pool=False,
        retry_on_blocked=False,
        configure_logging=False,
    )

    @made.router.default_handler
    async def handle(context: ParselCrawlingContext) -> None:
        url, page = context.request.url, context.selector
        items.write(json.dumps(fields(url, page)) + "\n")
        links = page.css(LINKS).getall()
        await context.add_requests([urljoin(url, href) for href in links])

    return made


async def crawl() -> None:
    logging.basicConfig(level=logging.WARNING)
    with Path(ITEMS).open("w", encoding="utf-8") as items:
        await crawler(items).run(Order.read().urls)


if __name__ == "__main__":
    uvloop.run(crawl())
