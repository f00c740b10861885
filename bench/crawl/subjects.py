"""The crawlers that are measured: how each is started, and where its items are."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import TYPE_CHECKING

from bench.crawl.ordered import ITEMS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

DATABASE = "items.db"


@dataclass(frozen=True)
class Subject:
    """A crawler: a module with settings, given on its command line, and environment variables.

    `{server}` in a value is the Redis server's address. items: the pages that it has items of, in a
    folder. copies: how many processes share the pages; what needs `Order` finds it in its folder.
    times: how often it runs in a round; the quick ones are near each other, and runs differ.
    package, requirement: what has to be installed for it beyond the bench's own.
    """

    name: str
    items: Callable[[Path], set[str]]
    settings: dict[str, str] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)
    module: str = "scrapy"
    spider: str = "pages"
    copies: int = 1
    times: int = 1
    package: str = ""
    requirement: str = ""

    @property
    def missing(self) -> str:
        """What to do before it can be measured; an empty text if nothing."""
        if not self.package or find_spec(self.package):
            return ""
        return f"{self.name} is left out: pip install '{self.requirement}'"


def in_lines(folder: Path) -> set[str]:
    """The pages in the JSON Lines file."""
    lines = (folder / ITEMS).read_text(encoding="utf-8").splitlines()
    return {json.loads(line)["url"] for line in lines}


def in_rows(folder: Path) -> set[str]:
    """The pages in our sink."""
    with closing(sqlite3.connect(folder / DATABASE)) as database:
        return {url for (url,) in database.execute("SELECT DISTINCT url FROM items")}


_FEED = {"FEEDS": json.dumps({ITEMS: {"format": "jsonlines"}})}
_SCRAPY_REDIS = {
    "SCHEDULER": "scrapy_redis.scheduler.Scheduler",
    "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter",
    "REDIS_URL": "{server}",
}
_ADDON = {"ADDONS": json.dumps({"skitter.addon.Addon": 500}), "SKITTER_JOB": "bench"}
_FAST = {"SKITTER_JOB": "bench"}
_OURS = {"SKITTER_REDIS__URL": "{server}", "SKITTER_ITEMS__SINK": f"sqlite:{DATABASE}"}
_ENGINE = "bench.crawl.fast"
_HANDMADE = "bench.crawl.handmade"
_OFTEN = 5

SUBJECTS = (
    Subject("scrapy", in_lines, _FEED),
    Subject("scrapy_redis", in_lines, _FEED | _SCRAPY_REDIS),
    Subject("addon", in_rows, _ADDON, _OURS),
    Subject(
        "crawlee",
        in_lines,
        module="bench.crawl.parsel_crawler",
        package="crawlee",
        requirement="crawlee[parsel]>=1.11",
    ),
    Subject("handmade", in_lines, module=_HANDMADE, times=_OFTEN),
    Subject("skitter", in_rows, _FAST, _OURS, _ENGINE, times=_OFTEN),
    Subject("skitter_follow_all", in_rows, _FAST, _OURS, _ENGINE, spider="pages_all", times=_OFTEN),
    Subject(
        "skitter_curl",
        in_rows,
        _FAST,
        _OURS | {"SKITTER_FETCH__CLIENT": "curl"},
        _ENGINE,
        package="pycurl",
        requirement="skitter[curl]",
    ),
    Subject("handmade_two", in_lines, module=_HANDMADE, copies=2, times=_OFTEN),
    Subject("skitter_two", in_rows, _FAST, _OURS, _ENGINE, copies=2, times=_OFTEN),
)
