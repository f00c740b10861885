"""The last pipeline: what has passed all others goes with its page to the sink."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from skitter.engine.crawl import Crawl
from skitter.engine.visit import current
from skitter.sinks import Item, fields_of, identify, identify_by_key, key_of, parser_of, shape_of
from skitter.sinks.json_text import to_json
from skitter.sinks.rows import clock_text

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from skitter.engine.visit import Visit


class SinkPipeline:
    """Keeps items with the visit that made them; the page is settled when they are durable."""

    def __init__(self, crawl: Crawl) -> None:
        self._crawl = crawl
        self._spider = str(crawl.crawler.spidercls.name)
        self._tracked = tuple(getattr(crawl.crawler.spidercls, "tracked_fields", ()))
        self._key_fields = tuple(getattr(crawl.crawler.spidercls, "key_fields", ()))
        self._parser = ""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """As Scrapy makes it."""
        return cls(Crawl.of(crawler))

    async def process_item(self, item: Any) -> Any:
        """Keep an item."""
        visit = current()
        if visit:
            await self.keep(item, visit)
        else:
            await self._put_now(item)
        return item

    async def keep(self, item: Any, visit: Visit) -> None:
        """Keep an item with its visit; raises UnstorableItem."""
        attrs = await self._attrs(visit.job)
        visit.page.items.append(self._item(item, visit, attrs))

    def _item(self, item: Any, visit: Visit, attrs: dict[str, Any]) -> Item:
        """Equal items of one page are told apart by how many came before; others by their key."""
        url, job, kind = visit.page.request.url, visit.job, type(item).__name__
        data = fields_of(item, url=url)
        if key := key_of(item, self._key_fields):
            to_json(data, url=url)
            name = identify_by_key(key, spider=self._spider, kind=kind)
            return self._made(name, visit, item, (data, attrs))
        first = identify(data, job=job, url=url, occurrence=0)
        before = visit.equals.get(first, 0)
        visit.equals[first] = before + 1
        name = first if not before else identify(data, job=job, url=url, occurrence=before)
        return self._made(name, visit, item, (data, attrs))

    def _made(
        self, name: str, visit: Visit | None, item: Any, content: tuple[dict[str, Any], Any]
    ) -> Item:
        data, attrs = content
        return Item(
            id=name,
            job=visit.job if visit else self._crawl.job,
            spider=self._spider,
            url=visit.page.request.url if visit else "",
            kind=type(item).__name__,
            data=data,
            worker=self._crawl.process.frontier.worker,
            attrs=attrs,
            fetched_at=clock_text(visit.page.head_at) if visit else "",
            parser=self._parser or self._read_by(),
            shape=shape_of(item.__class__, self._tracked),
        )

    def _read_by(self) -> str:
        """What reads the pages, with its version; a spider's is known when it is there."""
        self._parser = parser_of(self._crawl.crawler.spider)
        return self._parser

    async def _put_now(self, item: Any) -> None:
        """One that no page gave, such as an extension's: nobody would wait for it later."""
        job = self._crawl.job
        data = fields_of(item, url="")
        name = identify(data, job=job, url="", occurrence=0)
        made = self._made(name, None, item, (data, await self._attrs(job)))
        await self._crawl.process.sink.put([made])

    async def _attrs(self, job: str) -> dict[str, Any]:
        known = self._crawl.attrs
        if job not in known:
            if len(known) > 10_000:
                known.clear()
            known[job] = (await self._crawl.process.frontier.jobs.known(job)).job.attrs
        return known[job]
