"""A wall that scrolls on without end: the page has nothing, its endpoint has everything."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import scrapy

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator


class ScrollSpider(scrapy.Spider):
    name = "scroll"
    site: str

    async def start(self) -> AsyncIterator[Any]:
        yield scrapy.Request(f"{self.site}/scroll")

    def parse(self, response: Any) -> Iterator[Any]:
        options = json.loads(response.css("script::text").re_first(r"options = (.*);"))
        yield self.ask(response.urljoin(options["endpoint"]), options["page"])

    def ask(self, endpoint: str, page: int) -> scrapy.FormRequest:
        return scrapy.FormRequest(
            endpoint,
            method="GET",
            formdata={"page": str(page)},
            headers={"X-Requested-With": "XMLHttpRequest"},
            callback=self.parse_sayings,
            cb_kwargs={"endpoint": endpoint},
        )

    def parse_sayings(self, response: Any, endpoint: str) -> Iterator[Any]:
        data = response.json()
        for quote in data["quotes"]:
            yield {"page": data["page"], **quote}
        if data["has_next"]:
            yield self.ask(endpoint, data["page"] + 1)
