"""The settings of a project that was written for scrapy-redis; nothing in them is Skitter's."""

from __future__ import annotations

import os

# Where the classes come from: the one thing that a move changes.
PACKAGE = os.environ.get("BOOKSTALL_FROM", "scrapy_redis")

BOT_NAME = "bookstall"
SPIDER_MODULES = ["bookstall.spiders"]
ROBOTSTXT_OBEY = True
CONCURRENT_REQUESTS_PER_DOMAIN = 6
DOWNLOAD_DELAY = 0
REMOTE_CONTROL_ENABLED = False
TELNETCONSOLE_ENABLED = False

SCHEDULER = f"{PACKAGE}.scheduler.Scheduler"
DUPEFILTER_CLASS = f"{PACKAGE}.dupefilter.RFPDupeFilter"
SCHEDULER_QUEUE_CLASS = f"{PACKAGE}.queue.SpiderPriorityQueue"
ITEM_PIPELINES = {
    "bookstall.pipelines.Prices": 300,
    f"{PACKAGE}.pipelines.RedisPipeline": 400,
}
STATS_CLASS = f"{PACKAGE}.stats.RedisStatsCollector"
REDIS_URL = os.environ.get("BOOKSTALL_REDIS", "redis://localhost:6379/0")
