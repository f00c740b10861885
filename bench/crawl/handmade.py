"""The same pages by a loop that somebody who knows how would write by hand for this one site.

aiohttp, parsel on the bytes, a set of what was seen, JSON Lines; no retry, no pace, no robots.txt,
and all is lost when it ends. Copies of it share the pages by their place in a list of them all.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urljoin

import aiohttp
import uvloop
from parsel import Selector

from bench.crawl.ordered import CONCURRENCY, ITEMS, Order
from bench.crawl.page_fields import LINKS, fields

if TYPE_CHECKING:
    from typing import TextIO


class Loop:
    """What is ahead, what was seen, and where items go."""

    def __init__(self, order: Order, items: TextIO) -> None:
        self._items = items
        self._ahead: asyncio.Queue[str] = asyncio.Queue()
        self._seen = set(order.all_urls)
        for url in order.urls:
            self._ahead.put_nowait(url)

    async def run(self) -> None:
        """Fetch until nothing is queued or under way."""
        session = aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar(), raise_for_status=True)
        async with session, asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._work(session)) for _ in range(CONCURRENCY)]
            await self._ahead.join()
            for task in tasks:
                task.cancel()

    async def _work(self, session: aiohttp.ClientSession) -> None:
        while True:
            url = await self._ahead.get()
            async with session.get(url) as response:
                body = await response.read()
            self._take(url, Selector(body=body, encoding="utf-8"))
            self._ahead.task_done()

    def _take(self, url: str, page: Selector) -> None:
        self._items.write(json.dumps(fields(url, page)) + "\n")
        origin = url[: url.index("/", 8)]
        for href in page.css(LINKS).getall():
            rooted = href[0:1] == "/" != href[1:2]
            link = origin + href if rooted else urljoin(url, href)
            if link not in self._seen:
                self._seen.add(link)
                self._ahead.put_nowait(link)


async def crawl() -> None:
    with Path(ITEMS).open("w", encoding="utf-8") as items:
        await Loop(Order.read(), items).run()


if __name__ == "__main__":
    uvloop.run(crawl())
