"""What is written down besides items: feeds, files."""

# ruff: noqa: RUF012, ARG002 - as spiders and pipelines are written

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import scrapy
from scrapy import signals
from scrapy.exceptions import DropItem
from scrapy.exporters import JsonLinesItemExporter
from scrapy.http import Request
from scrapy.pipelines.files import FilesPipeline

from tests.acceptance.conformance.cases.case import Case

FILES = {"ITEM_PIPELINES": {"scrapy.pipelines.files.FilesPipeline": 1}}


class Writing(Case):
    """Tells in its stats what lies in its folder in the end, when all others have closed."""

    @classmethod
    def from_crawler(cls, crawler: Any, *args: Any, **kwargs: Any) -> Any:
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.tell, signals.engine_stopped)
        return spider

    @property
    def place(self) -> Path:
        return Path(self.settings["CASE_FOLDER"])

    def tell(self) -> None:
        stats: Any = self.crawler.stats
        for path in sorted(self.place.rglob("*")):
            if path.is_file():
                lines = sorted(path.read_text("latin-1").splitlines())
                stats.set_value(f"case/{path.relative_to(self.place)}", lines)


class Feeds(Writing):
    """FEEDS: several formats at once, with fields, filters and batches."""

    name = "feeds"
    paths = ("/echo/1", "/echo/2")
    gives = 6

    @classmethod
    def update_settings(cls, settings: Any) -> None:
        super().update_settings(settings)
        feeds = {
            "lines.jsonl": {"format": "jsonlines"},
            "all.json": {"format": "json", "indent": 1, "encoding": "utf-8"},
            "table.csv": {"format": "csv", "fields": ["name", "number"]},
            "tree.xml": {"format": "xml"},
            "none.json": {"format": "json", "item_filter": f"{__name__}.Nothing"},
        }
        place = settings["CASE_FOLDER"]
        settings.set("FEEDS", {f"{place}/{name}": how for name, how in feeds.items()}, "spider")

    def parse(self, response: Any) -> Any:
        for number in range(3):
            yield {"name": f"ü {response.url[-1]}", "number": number, "list": ["a", 1]}


class FeedOptions(Writing):
    """FEEDS: batches, columns by name, item classes, an exporter of one's own, gzip, URI params."""

    name = "feed_options"
    paths = ("/echo/1",)
    gives = 5

    @classmethod
    def update_settings(cls, settings: Any) -> None:
        super().update_settings(settings)
        feeds: dict[str, dict[str, Any]] = {
            "%(word)s-%(batch_id)d.jl": {"format": "jl", "batch_item_count": 2},
            "table.csv": {
                "format": "csv",
                "fields": {"number": "No.", "name": "Name"},
                "item_export_kwargs": {"delimiter": ";"},
            },
            "some.jl": {"format": "jl", "item_classes": [Sort]},
            "own.txt": {"format": "own"},
            "empty.json": {"format": "json", "item_classes": [Nothing], "store_empty": True},
            "packed.gz": {
                "format": "jl",
                "postprocessing": ["scrapy.extensions.postprocessing.GzipPlugin"],
                "gzip_mtime": 0,
            },
        }
        place = settings["CASE_FOLDER"]
        settings.set("FEEDS", {f"{place}/{name}": how for name, how in feeds.items()}, "spider")
        settings.set("FEED_EXPORTERS", {"own": f"{__name__}.Shouting"}, "spider")
        settings.set("FEED_URI_PARAMS", f"{__name__}.with_word", "spider")

    def parse(self, _response: Any) -> Any:
        for number in range(4):
            yield {"name": "ü" * number, "number": number}
        yield Sort(name="sort", number=5)


class Sort(scrapy.Item):
    name = scrapy.Field()
    number = scrapy.Field()


class Shouting(JsonLinesItemExporter):
    """Writes names in capitals."""

    def export_item(self, item: Any) -> None:
        super().export_item(dict(item) | {"name": item["name"].upper()})


def with_word(params: dict[str, Any], spider: Any) -> dict[str, Any]:
    return params | {"word": spider.name[:4]}


class Nothing:
    """A feed's filter that takes nothing."""

    def __init__(self, _options: Any) -> None:
        pass

    def accepts(self, _item: Any) -> bool:
        return False


class Covers(FilesPipeline):
    """Files by requests, under paths and with results of one's own."""

    def get_media_requests(self, item: Any, info: Any) -> Any:
        for url in item["covers"]:
            yield Request(url, headers={"X-Cover": "1"}, meta={"of": item["name"]})

    def file_path(
        self, request: Any, response: Any = None, info: Any = None, *, item: Any = None
    ) -> str:
        return f"{request.meta['of']}/{len(item['covers'])}-{request.url.rpartition('/')[2]}"

    def item_completed(self, results: Any, item: Any, info: Any) -> Any:
        stored = [told["path"] for fine, told in results if fine]
        lost = [type(told.value).__name__ for fine, told in results if not fine]
        if not stored:
            raise DropItem("no cover")
        return item | {"stored": stored, "lost": lost}


class OwnFiles(Writing):
    """A pipeline derived from FilesPipeline; MEDIA_ALLOW_REDIRECTS."""

    name = "files_own"
    custom_settings = {
        "ITEM_PIPELINES": {f"{__name__}.Covers": 1},
        "MEDIA_ALLOW_REDIRECTS": True,
        "RETRY_ENABLED": False,
    }
    paths = ("/links",)
    gives = 2

    @classmethod
    def update_settings(cls, settings: Any) -> None:
        super().update_settings(settings)
        settings.set("FILES_STORE", settings["CASE_FOLDER"], "spider")

    def parse(self, response: Any) -> Any:
        found = {
            "some": ("/body/text", "/hops/1", "/status/404", "/raw/short"),
            "none": ("/status/500",),
            "twice": ("/body/json", "/body/json"),
        }
        for name, paths in found.items():
            yield {"name": name, "covers": [response.urljoin(path) for path in paths]}


class Files(Writing):
    """FilesPipeline: stored, missing and twice the same."""

    name = "files"
    paths = ("/links",)
    gives = 2
    custom_settings = FILES

    @classmethod
    def update_settings(cls, settings: Any) -> None:
        super().update_settings(settings)
        settings.set("FILES_STORE", settings["CASE_FOLDER"], "spider")

    def parse(self, response: Any) -> Any:
        paths = ("/body/text", "/body/json", "/status/404", "/hops/1")
        yield {"name": "some", "file_urls": [response.urljoin(path) for path in paths]}
        yield {"name": "same", "file_urls": [response.urljoin("/body/text")]}

    def tell(self) -> None:
        super().tell()
        stats: Any = self.crawler.stats
        names = sorted(path.name for path in self.place.rglob("*") if path.is_file())
        stats.set_value("case/names", json.dumps(names))
