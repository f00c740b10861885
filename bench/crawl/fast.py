"""python -m bench.crawl.fast crawl NAME -a NAME=VALUE -s NAME=VALUE: on the fast engine."""

from __future__ import annotations

import argparse

from skitter.engine.collecting import resting
from skitter.engine.running import run_spider

with resting():
    from scrapy.spiderloader import get_spider_loader
    from scrapy.utils.log import configure_logging
    from scrapy.utils.project import get_project_settings


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.crawl.fast")
    parser.add_argument("command", choices=["crawl"])
    parser.add_argument("spider")
    parser.add_argument("-a", action="append", default=[], dest="args")
    parser.add_argument("-s", action="append", default=[], dest="settings")
    options = parser.parse_args()
    settings = get_project_settings()
    for text in options.settings:
        name, _, value = text.partition("=")
        settings.set(name, value, priority="cmdline")
    configure_logging(settings)
    spider = get_spider_loader(settings).load(options.spider)
    run_spider(spider, settings, args=dict(text.split("=", 1) for text in options.args))


if __name__ == "__main__":
    main()
