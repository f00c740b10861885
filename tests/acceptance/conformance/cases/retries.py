"""What is tried again, how often, and what the spider sees in the end."""

# ruff: noqa: RUF012 - as spiders are written

from __future__ import annotations

from typing import Any

import scrapy
from scrapy.downloadermiddlewares.retry import get_retry_request

from tests.acceptance.conformance.cases.case import Case, seen


class Failing(Case):
    """Asks for all paths with an errback."""

    def start_requests_of(self, *paths: str, **more: Any) -> Any:
        for path in paths:
            yield scrapy.Request(self.url(path), errback=self.failed, **more)

    async def start(self) -> Any:
        for request in self.start_requests_of(*self.paths):
            yield request


class ByStatus(Failing):
    """A status that passes is tried again until it has passed."""

    name = "retry_until_it_passes"
    paths = ("/status/502?first=1", "/status/500?first=2", "/status/408?first=1")
    gives = 3


class Exhausted(Failing):
    """A status that stays comes to the spider after the last attempt."""

    name = "retry_exhausted"
    custom_settings = {"RETRY_TIMES": 1}
    paths = ("/status/502", "/status/504")
    gives = 2


class Codes(Failing):
    """RETRY_HTTP_CODES says which."""

    name = "retry_http_codes"
    custom_settings = {"RETRY_HTTP_CODES": [418], "RETRY_TIMES": 2}
    paths = ("/status/418?first=2", "/status/504")
    gives = 2


class ByException(Failing):
    """A connection that closes without an answer is tried again."""

    name = "retry_by_exception"
    custom_settings = {"RETRY_TIMES": 2}
    paths = ("/raw/nothing?first=1",)


class Busy(Failing):
    """503 and 429, which slow the fast engine down, are tried again too."""

    name = "retry_busy"
    paths = ("/status/503?first=1", "/status/429?first=1")
    gives = 2


class Gone(Failing):
    """Half a head, each time: the errback gets the error after the last attempt."""

    name = "retry_exception_exhausted"
    custom_settings = {"RETRY_TIMES": 1}
    paths = ("/raw/head-only",)


class TornOnce(Failing):
    """A body that was cut off once."""

    name = "retry_data_loss"
    paths = ("/raw/short?first=1",)


class ByMeta(Failing):
    """`dont_retry` and `max_retry_times`."""

    name = "retry_by_meta"
    gives = 3

    async def start(self) -> Any:
        for request in self.start_requests_of("/status/500?a", meta={"dont_retry": True}):
            yield request
        for request in self.start_requests_of("/status/502?b", meta={"max_retry_times": 1}):
            yield request
        for request in self.start_requests_of("/status/500?c", meta={"max_retry_times": 0}):
            yield request


class Disabled(Failing):
    """RETRY_ENABLED off."""

    name = "retry_off"
    custom_settings = {"RETRY_ENABLED": False}
    paths = ("/status/503", "/raw/short")
    gives = 2


class BySpider(Case):
    """`get_retry_request` in a callback."""

    name = "retry_by_spider"
    paths = ("/links?title=first",)
    gives = 1

    def parse(self, response: Any) -> Any:
        again = get_retry_request(
            response.request, spider=self, reason="not good", max_retry_times=2
        )
        if again:
            return again
        return seen(response, times=response.meta.get("retry_times"))


class Posted(Failing):
    """A POST is tried again with its body."""

    name = "retry_post"

    async def start(self) -> Any:
        paths = ("/status/500?first=1",)
        for request in self.start_requests_of(*paths, method="POST", body=b"payload"):
            yield request
