"""Ordinary Scrapy projects, and a site for them to crawl."""
