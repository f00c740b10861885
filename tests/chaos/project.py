"""The Scrapy project that the add-on's chaos runs: polite by the site's own rules, and patient."""

BOT_NAME = "chaos"
SPIDER_MODULES = ["tests.chaos.link_spider"]
ADDONS = {"skitter.addon.Addon": 500}
ROBOTSTXT_OBEY = True
DOWNLOAD_DELAY = 0
CONCURRENT_REQUESTS = 16
CONCURRENT_REQUESTS_PER_DOMAIN = 4
RETRY_TIMES = 7
LOG_LEVEL = "INFO"
TELNETCONSOLE_ENABLED = False
