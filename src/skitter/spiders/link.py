"""Any page on demand: its title, text, headers and links, and what else was asked for.

`attrs` of a job are with every item by themselves; those of a single request, in
`meta["attrs"]`, are handed through to its item and to what it leads to.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from typing import Any
from urllib.parse import urlsplit

from scrapy import Request, Spider
from scrapy.http import Response, TextResponse

from skitter.errors import BadArgument
from skitter.extract.cleaned import Cleaned
from skitter.extract.document import Document
from skitter.extract.element_text import element_text
from skitter.extract.text import clean_text
from skitter.extract.urls import clean_url
from skitter.spiders.arguments import hosts_of, read_count, read_flag, read_urls
from skitter.spiders.items import WebPage

MOST_LINKS = 10_000
_LINKS = "//a/@href | //area/@href"
_ASSETS = "//img/@src | //script/@src | //link[@rel='stylesheet' or @rel='icon']/@href"


class LinkSpider(Spider):
    """Gives the pages that it is asked for, and those within depth links of them.

    Arguments: url or urls; depth (0); offsite=1 to leave the hosts of the URLs; body=1 for the
    body; assets=1 for pictures, scripts and styles too; attrs, a JSON object for every item. The
    job's own scope and depth bound it besides.
    """

    name = "link"

    def __init__(
        self,
        *,
        url: str = "",
        urls: str = "",
        depth: str = "0",
        attrs: str = "",
        **kwargs: Any,
    ) -> None:
        self.body = read_flag("body", kwargs.pop("body", ""))
        self.assets = read_flag("assets", kwargs.pop("assets", ""))
        self.offsite = read_flag("offsite", kwargs.pop("offsite", ""))
        super().__init__(**kwargs)
        self.depth = read_count("depth", depth)
        self.attrs = _attrs(attrs)
        self.start_urls = read_urls(url, urls)
        if not self.offsite:
            self.allowed_domains = hosts_of(self.start_urls)

    async def start(self) -> AsyncIterator[Any]:
        """The pages that were asked for."""
        for url in self.start_urls:
            yield Request(url, cb_kwargs={"left": self.depth})

    def parse(self, response: Response, left: int | None = None) -> Iterator[Any]:
        """A page, and the requests for those that it leads to. left: how deep they may be."""
        left = self.depth if left is None else left
        document = Document.of(response) if isinstance(response, TextResponse) else None
        links = links_on(document)
        assets = _addresses(document, _ASSETS) if self.assets else []
        item = self._item(response, document)
        item["links"] = links
        if self.assets:
            item["assets"] = assets
        yield item
        for url in self._wanted(links if left > 0 else [], response.url):
            yield self._request(url, response, left - 1)
        for url in self._wanted(assets, response.url):
            yield self._request(url, response, 0)

    def _item(self, response: Response, document: Document | None) -> WebPage:
        kind = response.headers.get("Content-Type", b"") or b""
        item = WebPage(
            url=response.url,
            status=response.status,
            content_type=kind.decode("latin-1"),
            headers=_headers(response),
            bytes=len(response.body),
        )
        if document is not None:
            item["title"] = title_of(document)
            item["text"] = _text(document)
        if self.body:
            item["body"] = response.body if document is None else document.text
        if attrs := self.attrs | response.meta.get("attrs", {}):
            item["attrs"] = attrs
        return item

    def _wanted(self, urls: list[str], page: str) -> Iterator[str]:
        """Without URLs of its own and without leave, it stays on the host of each page."""
        at_large = self.offsite or bool(self.start_urls)
        return (url for url in urls if at_large or _host(url) == _host(page))

    def _request(self, url: str, response: Response, left: int) -> Request:
        attrs = response.meta.get("attrs")
        meta = {"attrs": attrs} if attrs else None
        return Request(url, cb_kwargs={"left": left}, meta=meta)


def _attrs(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text) if text else {}
    except ValueError as error:
        raise BadArgument(name="attrs", value=text, problem=f"is no JSON: {error}") from error
    if not isinstance(found, dict):
        raise BadArgument(name="attrs", value=text, problem="is no JSON object")
    return found


def links_on(document: Document | None) -> list[str]:
    """Where a page leads."""
    return _addresses(document, _LINKS)


def _addresses(document: Document | None, xpath: str) -> list[str]:
    """The addresses on a page, absolute, each once."""
    if document is None:
        return []
    texts = document.selector.xpath(xpath).getall()[:MOST_LINKS]
    results = [clean_url(text, document.base) for text in texts]
    return list(dict.fromkeys(one.value for one in results if isinstance(one, Cleaned)))


def title_of(document: Document | None) -> str:
    """A page's title, or none."""
    if document is None:
        return ""
    text = document.selector.xpath("string(//title)").get() or ""
    return clean_text(text).value or ""


def _text(document: Document) -> str:
    body = document.selector.xpath("//body")
    text = element_text(body[0].root) if body else document.text
    return clean_text(text, lines=True).value or ""


def _headers(response: Response) -> dict[str, str]:
    return {
        name.decode("latin-1"): b", ".join(values).decode("latin-1")
        for name, values in response.headers.items()
    }


def _host(url: str) -> str:
    return urlsplit(url).hostname or ""
