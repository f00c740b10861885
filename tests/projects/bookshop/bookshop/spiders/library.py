"""An API in JSON: a token first, then a search by cursor, then each record that it finds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import scrapy
from scrapy.http import JsonRequest

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


class LibrarySpider(scrapy.Spider):
    name = "library"
    site: str
    query = "ink"
    custom_settings = {  # noqa: RUF012 - as Scrapy's documentation writes it
        "DEFAULT_REQUEST_HEADERS": {"Accept": "application/json"}
    }

    async def start(self) -> AsyncIterator[Any]:
        yield scrapy.Request(f"{self.site}/api/token", callback=self.parse_token)

    async def parse_token(self, response: Any) -> Any:
        return self.search(response.json()["token"])

    def search(self, token: str, cursor: int | None = None) -> JsonRequest:
        return JsonRequest(
            f"{self.site}/api/search",
            data={"query": self.query, "size": 6, "cursor": cursor},
            headers={"X-Token": token},
            callback=self.parse_results,
            meta={"token": token},
        )

    async def parse_results(self, response: Any) -> AsyncIterator[Any]:
        found = response.json()
        for result in found["results"]:
            yield response.follow(
                f"/api/books/{result['id']}",
                callback=self.parse_book,
                errback=self.missing,
                cb_kwargs={"title": result["title"]},
            )
        if found["cursor"]:
            yield self.search(response.meta["token"], found["cursor"])

    def parse_book(self, response: Any, title: str) -> dict[str, Any]:
        book: dict[str, Any] = response.json()
        return book | {"title": title, "price": str(book["price"]["GBP"] or "£0")}

    def missing(self, failure: Any) -> dict[str, Any]:
        response = failure.value.response
        return {"missing": response.url, "why": response.json()["error"]}
