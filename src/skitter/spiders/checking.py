"""An item pipeline that checks items and puts what is wrong in quarantine, never away.

A page is done only when its pipelines are, so a refused item is durable before its page is. Under
plain Scrapy, which has no sink that goes by keys, an item that was met before is dropped here; on
the frontier it has to pass, for a page may be replayed.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from scrapy.exceptions import DropItem

from skitter.engine.crawl import Crawl
from skitter.engine.visit import current
from skitter.sinks import Item, fields_of, identify, identify_by_key, key_of, parser_of, shape_of
from skitter.sinks.quarantine import Held, Judge, Quarantine
from skitter.sinks.rows import clock_text
from skitter.sinks.sqlite_file import SCHEME, path_of
from skitter.spiders.items import Found
from skitter.validate import MODELS, Accepted, Quarantined, Validator

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

SETTING = "SKITTER_QUARANTINE"
USUAL_PATH = ".skitter/quarantine.db"
TRACKED = "tracked_fields"
MOST_KEYS = 1_000_000

Validators = Mapping[str, tuple[Validator, ...]]


class CheckingPipeline:
    """Checks items by the `validators` of the spider, which are by kind of item."""

    def __init__(self, crawler: Crawler, *, crawl: Crawl | None) -> None:
        self._crawler = crawler
        self._crawl = crawl
        sinks = crawl.settings.items.sink if crawl else ()
        self._quarantine = Quarantine(quarantine_path(sinks, crawler.settings.get(SETTING)))
        self._met: OrderedDict[tuple[str, ...], None] = OrderedDict()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """As Scrapy makes it."""
        return cls(crawler, crawl=crawl_of(crawler))

    async def process_item(self, item: Any) -> Any:
        """The item, with the types of its model; or it is held, and dropped here."""
        spider: Any = self._crawler.spider
        kind = type(item).__name__
        verdict = check(spider.validators, kind, fields_of(item, url=""))
        if isinstance(verdict, Quarantined):
            held = self._held(item, verdict, kind=kind, spider=str(spider.name))
            await asyncio.to_thread(self._quarantine.put, [held])
            self._crawler.stats.inc_value("skitter/quarantined")
            raise DropItem(f"quarantined: {verdict.reason}")
        if self._crawl is None:
            self._drop_if_met(item)
        if isinstance(item, Found):
            item.update(verdict.data)
        return item

    def _held(self, item: Any, verdict: Quarantined, *, kind: str, spider: str) -> Held:
        visit = current() if self._crawl else None
        job = visit.job if visit else ""
        url = visit.page.request.url if visit else str(verdict.data.get("url", ""))
        key = key_of(item, getattr(self._crawler.spider, "key_fields", ()))
        identity = (
            identify_by_key(key, spider=spider, kind=kind)
            if key
            else identify(verdict.data, job=job, url=url, occurrence=0)
        )
        worker = self._crawl.process.frontier.worker if self._crawl else ""
        attrs = self._crawl.attrs.get(job, {}) if self._crawl else {}
        found = Item(identity, job, spider, url, kind, verdict.data, worker, attrs)
        found.fetched_at = clock_text(visit.page.head_at) if visit else ""
        found.parser = parser_of(self._crawler.spider)
        found.shape = shape_of(item.__class__, tuple(getattr(self._crawler.spider, TRACKED, ())))
        return Held(found, verdict.reason, verdict.field, verdict.raw)

    def _drop_if_met(self, item: Any) -> None:
        key = key_of(item)
        if key and key in self._met:
            raise DropItem("met before, by another address")
        if key:
            self._met[key] = None
        if len(self._met) > MOST_KEYS:
            self._met.popitem(last=False)


def check(validators: Validators, kind: str, data: dict[str, Any]) -> Accepted | Quarantined:
    """Check an item by all the rules of its kind, one after the other."""
    verdict: Accepted | Quarantined = Accepted(data)
    for validator in validators.get(kind.lower(), ()):
        verdict = validator.check(verdict.data)
        if isinstance(verdict, Quarantined):
            return verdict
    return verdict


def judge_by(validators: Validators | None = None) -> Judge:
    """These rules, or ours, for what is checked again."""
    rules = validators or {kind: (Validator.of_model(model),) for kind, model in MODELS.items()}

    def judge(item: Item) -> Mapping[str, Any] | str:
        verdict = check(rules, item.kind, item.data)
        return verdict.reason if isinstance(verdict, Quarantined) else verdict.data

    return judge


def crawl_of(crawler: Crawler) -> Crawl | None:
    """What an engine of ours keeps for a crawler; none under plain Scrapy."""
    try:
        return Crawl.of(crawler)
    except KeyError:
        return None


def quarantine_path(sinks: Sequence[str], told: object = None) -> Path:
    """Beside the items, in their own file where that is SQLite's; or where it is told to be."""
    files = [path_of(url) for url in sinks if url.startswith(SCHEME)]
    return files[0] if files and not told else Path(str(told or USUAL_PATH))
