"""A page as extraction sees it, whichever engine fetched it: its URL, its text, a selector.

A Scrapy response is a `PageLike` already. Parsing happens once, when it is first needed; a body
that is JSON has no selector's worth of HTML, but its value can be asked for.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, Protocol
from urllib.parse import urljoin

from parsel import Selector

from skitter.extract.structured.lenient_json import BrokenJson, load_json
from skitter.extract.structured.reading import Structured

MOST_CHARS = 16 << 20


class PageLike(Protocol):
    """What a response has to have."""

    @property
    def url(self) -> str: ...
    @property
    def text(self) -> str: ...


class Document:
    """A page. What is longer than 16 million characters is cut there."""

    def __init__(self, url: str, text: str, *, selector: Selector | None = None) -> None:
        self.url = url
        self.text = text[:MOST_CHARS]
        if selector is not None and selector.type == "html":
            self.selector = selector

    @classmethod
    def of(cls, page: PageLike | Document) -> Document:
        """A response's document; with the response's own selector, if it has one."""
        if isinstance(page, Document):
            return page
        if page.text[:1] in "{[":
            return cls(page.url, page.text)
        return cls(page.url, page.text, selector=getattr(page, "selector", None))

    @cached_property
    def selector(self) -> Selector:
        """Of the HTML; of an empty page where the body is JSON."""
        return Selector(text="" if self._is_json else self.text, type="html", base_url=self.url)

    @cached_property
    def base(self) -> str:
        """What links are relative to."""
        href = self.selector.xpath("//base/@href").get()
        try:
            return urljoin(self.url, href.strip()) if href else self.url
        except ValueError:
            return self.url

    @cached_property
    def structured(self) -> Structured:
        """What the page tells machines."""
        return Structured(self.selector.root, self.base)

    @cached_property
    def values(self) -> list[tuple[str, Any]]:
        """The JSON of the page by name: its body, or what its scripts hold."""
        if not self._is_json:
            return [(one.name, one.value) for one in self.structured.embedded]
        try:
            return [("body", load_json(self.text))]
        except BrokenJson as error:
            self.structured.problems.append(f"body: {error}")
            return []

    @property
    def _is_json(self) -> bool:
        return self.text.lstrip()[:1] in ("{", "[")
