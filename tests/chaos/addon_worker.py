"""A worker of the add-on under the lab's referee: `scrapy crawl`, as its command line runs it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from scrapy.cmdline import execute
from scrapy.settings import Settings
from scrapy.utils.misc import load_object

import tests.chaos.link_spider
import tests.chaos.project
from tests.chaos.history import History
from tests.chaos.orders import SPIDER

if TYPE_CHECKING:
    from tests.chaos.orders import Order


_COMPONENTS = ("DOWNLOADER_MIDDLEWARES_BASE", "SPIDER_MIDDLEWARES_BASE", "EXTENSIONS_BASE")


def preload() -> None:
    """Import here what Scrapy imports at each start, so that those to come find it."""
    settings = Settings()
    settings.setmodule(tests.chaos.project)
    load_components(settings)


def load_components(settings: Settings) -> None:
    for name in ("ADDONS", *_COMPONENTS):
        for path in settings.getdict(name):
            load_object(path)


def run_addon(order: Order) -> None:
    """Crawl until the job has ended; an end that is not clean is noted."""
    history = History(f"{order.folder}/{order.worker}.history", order.worker)
    os.environ.update(order.more["environment"], SKITTER_WORKER_ID=order.worker)
    os.chdir(order.folder)
    code: object = 0
    try:
        execute(["scrapy", "crawl", SPIDER, *_options(order)])
    except SystemExit as end:
        code = end.code
    except Exception as error:
        code = repr(error)
        raise
    finally:
        history.note("crash", error=f"exit {code}") if code else history.note("left")


def _options(order: Order) -> list[str]:
    settings = order.more["settings"] | {"LOG_FILE": f"{order.worker}.log"}
    words = [("-a", f"{name}={value}") for name, value in order.more["args"].items()]
    words += [("-s", f"{name}={value}") for name, value in settings.items()]
    return [word for pair in words for word in pair]
