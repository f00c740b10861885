"""A RedisSpider: quotes by page, their authors, and whatever book is pushed besides."""

from __future__ import annotations

import os
import signal
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE = os.environ.get("BOOKSTALL_FROM", "scrapy_redis")
RedisSpider: Any = import_module(f"{PACKAGE}.spiders").RedisSpider


class QuotesSpider(RedisSpider):  # type: ignore[misc]
    name = "quotes"

    def parse(self, response: Any) -> Iterator[Any]:
        for quote in response.css("div.quote"):
            yield {"text": quote.css("span.text::text").get(), "said": response.meta.get("said")}
            yield from response.follow_all(quote.css("a[href^='/author']"), self.parse_author)
        yield from response.follow_all(css="li.next a")
        if response.css("h1"):
            yield {"title": response.css("h1::text").get(), "method": response.request.method}

    def parse_author(self, response: Any) -> Iterator[Any]:
        yield {"name": response.css("h3.name::text").get()}


class MortalSpider(QuotesSpider):
    """One that dies with the first message that it reads."""

    name = "mortal"
    omen: str

    def make_request_from_data(self, data: bytes) -> Any:
        if Path(self.omen).exists():
            Path(self.omen).unlink()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().make_request_from_data(data)
