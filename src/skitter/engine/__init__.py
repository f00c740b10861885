"""The fast engine: runs Scrapy spiders on asyncio, without Scrapy's engine."""
