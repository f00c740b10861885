"""A login by form, and the pages behind it, which know their reader by a cookie alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import scrapy
from scrapy.http import FormRequest

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator


class MembersSpider(scrapy.Spider):
    name = "members"
    site: str

    async def start(self) -> AsyncIterator[Any]:
        yield scrapy.Request(f"{self.site}/login", callback=self.log_in)

    def log_in(self, response: Any) -> Iterator[Any]:
        answers = {"user": "reader", "password": "paper & ink"}
        yield FormRequest.from_response(response, formdata=answers, callback=self.logged_in)

    def logged_in(self, response: Any) -> Iterator[Any]:
        yield {"greeting": response.css("h1::text").get()}
        yield from response.follow_all(
            css="li a",
            callback=self.parse_letter,
            errback=self.refused,
            cb_kwargs={"reader": "reader"},
            meta={"asked": True},
        )

    def parse_letter(self, response: Any, reader: str) -> Iterator[Any]:
        letter = response.css("p::text").get()
        yield {"letter": letter, "reader": reader, "asked": response.meta["asked"]}

    def refused(self, failure: Any) -> Iterator[Any]:
        yield {"refused": failure.value.response.url, "status": failure.value.response.status}
