"""A worker of the fast engine under the lab's referee: the add-on's project without the add-on."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from scrapy.settings import Settings
from scrapy.utils.log import configure_logging
from scrapy.utils.misc import load_object

import tests.chaos.project
from skitter.engine.running import run_spider
from tests.chaos.addon_worker import load_components
from tests.chaos.history import History

if TYPE_CHECKING:
    from tests.chaos.orders import Order


LINK_SPIDER = "tests.chaos.link_spider.LinkSpider"
SHOP_SPIDER = "skitter.spiders.ecommerce.EcommerceSpider"
CHECKING = "skitter.spiders.checking.CheckingPipeline"
SINKS = ("skitter.sinks.postgres.PostgresSink", "skitter.sinks.mongo.MongoSink")


def preload() -> None:
    """Import here what an engine imports when it is made, so that those to come find it."""
    load_components(project_settings())
    for path in (LINK_SPIDER, SHOP_SPIDER, CHECKING, *SINKS):
        load_object(path)


def project_settings() -> Settings:
    """The project as it is, but for the add-on, which is for Scrapy's engine."""
    settings = Settings()
    settings.setmodule(tests.chaos.project, priority="project")
    settings.set("ADDONS", {}, priority="project")
    return settings


def run_fast(order: Order) -> None:
    """Crawl until the job has ended; an end that is not clean is noted."""
    history = History(f"{order.folder}/{order.worker}.history", order.worker)
    os.environ.update(order.more["environment"], SKITTER_WORKER_ID=order.worker)
    os.chdir(order.folder)
    settings = project_settings()
    settings.setdict(order.more["settings"] | {"LOG_FILE": f"{order.worker}.log"}, "cmdline")
    configure_logging(settings)
    try:
        spider = load_object(order.more.get("spider", LINK_SPIDER))
        run_spider(spider, settings, args=order.more["args"])
    except BaseException as error:
        history.note("crash", error=repr(error))
        raise
    history.note("left")
