"""Quotes behind a login: the form first, then all pages, as a member."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import scrapy
from scrapy.http import FormRequest

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator


class DiarySpider(scrapy.Spider):
    name = "diary"
    site: str
    user = "reader"
    handle_httpstatus_list: ClassVar[list[int]] = [403]

    async def start(self) -> AsyncIterator[Any]:
        yield scrapy.Request(f"{self.site}/login", callback=self.log_in)

    def log_in(self, response: Any) -> FormRequest:
        answers = {"user": self.user, "password": "paper & ink"}
        return FormRequest.from_response(response, formdata=answers, callback=self.after_login)

    def after_login(self, response: Any) -> Iterator[Any]:
        if response.status == 403:
            self.logger.error("login failed")
            return
        yield {"greeting": response.css("h1::text").get()}
        yield response.follow("/page/1/", callback=self.parse_quotes)
        yield response.follow("/letters/13", callback=self.parse_letter)

    def parse_quotes(self, response: Any) -> Iterator[Any]:
        for quote in response.css("div.quote"):
            yield {
                "text": quote.css("span.text::text").get(),
                "author": quote.xpath("span/small/text() | small/text()").get(),
                "tags": quote.css("a.tag::text").getall(),
            }
        for link in response.css("li.next a"):
            yield response.follow(link, callback=self.parse_quotes)

    def parse_letter(self, response: Any) -> Iterator[Any]:
        yield {"letter": response.url, "status": response.status}
