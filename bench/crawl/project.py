"""The settings of the Scrapy project: nothing waits, and the rest is Scrapy's default."""

BOT_NAME = "bench"
SPIDER_MODULES = ["bench.crawl.pages"]
ROBOTSTXT_OBEY = False
DOWNLOAD_DELAY = 0
CONCURRENT_REQUESTS = 16
CONCURRENT_REQUESTS_PER_DOMAIN = 64
LOG_LEVEL = "INFO"
