"""The spider middleware next to the spider: the first to see what it gets and what it gives.

What reaches it has been given to the spider: that is what a page limit counts. Links that are known
already end here, before other middlewares and signals have work with them, where only Scrapy's own
middlewares follow and nobody listens; elsewhere they end in the scheduler.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from scrapy.http import Request as ScrapyRequest
from scrapy.utils.misc import load_object

from skitter.engine.crawl import Crawl
from skitter.engine.listeners import only_offsite_hears
from skitter.engine.visit import current

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from scrapy.crawler import Crawler
    from scrapy.http import Response


class Given:
    """Notes that a response was given to the spider."""

    def __init__(self, crawl: Crawl) -> None:
        self._crawl = crawl

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self | GivenQuickly:
        """As Scrapy makes it."""
        kind = GivenQuickly if _only_scrapys_follow(crawler) else cls
        return kind(Crawl.of(crawler))

    def process_spider_input(self, response: Response) -> None:  # noqa: ARG002
        """Called for what no other middleware held back."""
        visit = current()
        if visit:
            visit.given = True


class GivenQuickly(Given):
    """Takes links that are known out of the output at once."""

    async def process_spider_output(
        self,
        response: Response,  # noqa: ARG002
        result: AsyncIterator[Any],
    ) -> AsyncIterator[Any]:
        """All that is not known."""
        visit = current()
        if visit is None or not only_offsite_hears(self._crawl.crawler):
            async for output in result:
                yield output
            return
        known, job = self._crawl.known, visit.job
        self._crawl.harvest()
        async for output in result:
            if isinstance(output, ScrapyRequest) and known.has(job, output):
                known.met += 1
            else:
                yield output


def _only_scrapys_follow(crawler: Crawler) -> bool:
    """Whether all other spider middlewares are Scrapy's own, none of which changes a URL."""
    name = "SPIDER_MIDDLEWARES"
    chain = crawler.settings.get_component_priority_dict_with_base(name)
    kinds = [load_object(kind) for kind, place in chain.items() if place is not None]
    return all(
        kind is Given or kind.__module__.startswith("scrapy.spidermiddlewares.") for kind in kinds
    )
