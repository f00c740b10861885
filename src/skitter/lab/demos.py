"""The demo sites of a web by their hosts: the shops and the exchange, where the spec asks for them.

They are served beside the ordinary pages, which do not link to them. Their pages change with the
web's version; their exact values are `truth`, which the referee's desk hands out and no page
links to.
"""

from __future__ import annotations

import re
from itertools import chain
from typing import TYPE_CHECKING, Any, Protocol

from skitter.lab import render
from skitter.lab.answer import Answer
from skitter.lab.exchange.site import Exchange
from skitter.lab.refusal import LabSpecError
from skitter.lab.shop.site import Shop

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skitter.lab.dice import Dice
    from skitter.lab.spec import WebSpec
    from skitter.lab.wire import Request

_SITEMAP = re.compile(r"/sitemap-([1-9]\d{0,9})\.xml")


class DemoSite(Protocol):
    """A host whose pages have known values."""

    host: str
    delay_ms: float
    concurrency: int
    disallow: tuple[str, ...]

    @property
    def entries(self) -> int:
        """How many pages its sitemap has."""

    def entry(self, number: int) -> str:
        """The path of a page of its sitemap."""

    def answer(self, request: Request, *, origin: str, version: int) -> Answer | None:
        """The answer at a version, or None where nothing is."""

    def paths(self) -> Iterator[str]:
        """Every path that links lead to, forbidden ones aside."""

    def truth(self, version: int) -> Iterator[dict[str, Any]]:
        """Every value of every product or quote at a version."""


class Demos:
    """The demo sites of a web."""

    def __init__(self, spec: WebSpec, dice: Dice) -> None:
        self.shops: tuple[Shop, ...] = ()
        self.exchange: Exchange | None = None
        if spec.shop is not None:
            self.shops = tuple(Shop(spec.shop, locale, dice) for locale in spec.shop.locales)
        if spec.exchange is not None:
            self.exchange = Exchange(spec.exchange, dice)
        sites: Sequence[DemoSite] = [*self.shops, *([self.exchange] if self.exchange else [])]
        self._sites = {site.host: site for site in sites}

    def at(self, host: str) -> DemoSite | None:
        """The demo site on a host, if one is there."""
        return self._sites.get(host)

    def hosts(self) -> list[str]:
        """The names of all demo sites."""
        return list(self._sites)

    def shop_truth(self, version: int, *, host: str = "") -> Iterator[dict[str, Any]]:
        """Every product of every shop, or of the one on this host."""
        shops = [shop for shop in self.shops if host in ("", shop.host)]
        if not shops:
            raise LabSpecError(problem=f"it has no shop{f' on {host}' if host else ''}")
        return chain.from_iterable(shop.truth(version) for shop in shops)

    def exchange_truth(self, version: int) -> Iterator[dict[str, Any]]:
        """Every quote."""
        if self.exchange is None:
            raise LabSpecError(problem="it has no exchange")
        return self.exchange.truth(version)


def sitemap_answer(site: DemoSite, path: str, *, origin: str, per_file: int) -> Answer | None:
    """The index of a site's sitemaps, one of its files, or None for any other path."""
    files = -(-site.entries // per_file)
    if path == "/sitemap.xml":
        urls = [f"{origin}/sitemap-{number}.xml" for number in range(1, files + 1)]
        return _xml(render.sitemap("sitemapindex", "sitemap", urls=urls))
    match = _SITEMAP.fullmatch(path)
    if match is None or int(match[1]) > files:
        return None
    first = (int(match[1]) - 1) * per_file
    numbers = range(first, min(first + per_file, site.entries))
    return _xml(render.sitemap("urlset", "url", urls=[f"{origin}{site.entry(n)}" for n in numbers]))


def _xml(body: bytes) -> Answer:
    return Answer(body=body, content_type="application/xml")
