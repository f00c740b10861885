"""The crawlers that are measured: what makes `scrapy crawl` each of them, and their items."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ITEMS = "items.jsonl"
DATABASE = "items.db"


@dataclass(frozen=True)
class Subject:
    """A crawler: settings by name, given on its command line, and variables of its environment.

    `{server}` in a value is the Redis server's address.
    """

    name: str
    items: Callable[[Path], int]
    settings: dict[str, str] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)


def count_lines(folder: Path) -> int:
    """How many different pages are in the JSON Lines file."""
    lines = (folder / ITEMS).read_text(encoding="utf-8").splitlines()
    return len({json.loads(line)["url"] for line in lines})


def count_rows(folder: Path) -> int:
    """How many different pages are in the add-on's sink."""
    with closing(sqlite3.connect(folder / DATABASE)) as database:
        return int(database.execute("SELECT count(DISTINCT url) FROM items").fetchone()[0])


_FEED = {"FEEDS": json.dumps({ITEMS: {"format": "jsonlines"}})}

SUBJECTS = (
    Subject("scrapy", count_lines, _FEED),
    Subject(
        "scrapy_redis",
        count_lines,
        _FEED
        | {
            "SCHEDULER": "scrapy_redis.scheduler.Scheduler",
            "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter",
            "REDIS_URL": "{server}",
        },
    ),
    Subject(
        "addon",
        count_rows,
        {"ADDONS": json.dumps({"skitter.addon.Addon": 500}), "SKITTER_JOB": "bench"},
        {"SKITTER_REDIS__URL": "{server}", "SKITTER_ITEMS__SINK": f"sqlite:{DATABASE}"},
    ),
)
