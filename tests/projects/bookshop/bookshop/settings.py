"""The settings of an ordinary Scrapy project; nothing in them is Skitter's."""

BOT_NAME = "bookshop"
SPIDER_MODULES = ["bookshop.spiders"]
NEWSPIDER_MODULE = "bookshop.spiders"
ROBOTSTXT_OBEY = True
CONCURRENT_REQUESTS_PER_DOMAIN = 6
DOWNLOAD_DELAY = 0
ITEM_PIPELINES = {"bookshop.pipelines.Prices": 300}
FEED_EXPORT_ENCODING = "utf-8"
REMOTECONTROL_ENABLED = False
