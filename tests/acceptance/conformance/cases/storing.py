"""What is written down besides items: feeds, files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from scrapy import signals

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


class Nothing:
    """A feed's filter that takes nothing."""

    def __init__(self, _options: Any) -> None:
        pass

    def accepts(self, _item: Any) -> bool:
        return False


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
