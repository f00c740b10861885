"""For plain Scrapy, which knows no rules for names: everything through the lab as a proxy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler


class ThroughLab:
    def __init__(self, proxy: str) -> None:
        self._proxy = proxy

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(str(crawler.settings["LAB_PROXY"]))

    def process_request(self, request: Request) -> None:
        request.meta["proxy"] = self._proxy
