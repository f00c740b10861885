"""Statuses that a spider takes."""

# ruff: noqa: RUF012 - as spiders are written

from __future__ import annotations

from typing import Any, ClassVar

import scrapy

from tests.acceptance.conformance.cases.retries import Failing


class BySpider(Failing):
    """`handle_httpstatus_list` of the spider."""

    name = "status_list_of_spider"
    handle_httpstatus_list: ClassVar = [404, 500]
    paths = ("/status/404", "/status/403", "/status/500?first=1")
    gives = 3


class ByMeta(Failing):
    """`handle_httpstatus_list` and `handle_httpstatus_all` of a request."""

    name = "status_by_meta"
    handle_httpstatus_list: ClassVar = [404]
    gives = 4

    async def start(self) -> Any:
        takes: dict[str, dict[str, Any]] = {
            "/status/403": {"handle_httpstatus_list": [403]},
            "/status/404": {"handle_httpstatus_list": [403]},
            "/status/410": {"handle_httpstatus_all": True},
            "/status/405": {"handle_httpstatus_all": False},
        }
        for path, meta in takes.items():
            yield scrapy.Request(self.url(path), meta=meta, errback=self.failed)


class Allowed(Failing):
    """HTTPERROR_ALLOWED_CODES."""

    name = "status_allowed_codes"
    custom_settings = {"HTTPERROR_ALLOWED_CODES": [404]}
    paths = ("/status/404", "/status/403")
    gives = 2


class AllAllowed(Failing):
    """HTTPERROR_ALLOW_ALL; what is retried is retried all the same."""

    name = "status_allow_all"
    custom_settings = {"HTTPERROR_ALLOW_ALL": True, "RETRY_TIMES": 1}
    paths = ("/status/404", "/status/500", "/status/304")
    gives = 3
    apart = ("downloader/response_bytes",)
