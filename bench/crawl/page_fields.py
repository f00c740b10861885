"""What every crawler takes from a page. It stands apart, for not every one of them is a Scrapy."""

from __future__ import annotations

from typing import Any, Protocol

LINKS = "a::attr(href)"


class Selectable(Protocol):
    """A response or a selector."""

    def css(self, query: str) -> Any: ...


def fields(url: str, page: Selectable) -> dict[str, str | None]:
    """A title and three fields."""
    return {
        "url": url,
        "title": page.css("title::text").get(),
        "heading": page.css("h1::text").get(),
        "charset": page.css("meta::attr(charset)").get(),
        "text": page.css("p::text").get("")[:200],
    }
