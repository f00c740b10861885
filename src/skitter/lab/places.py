"""The map of the web: what lies at a path and where it leads, in the long run.

The part of the lab that links can lead to: pages, redirects (single, chained, endless), the
forbidden corner, traps and sitemaps. A place is what a URL is once its passing faults are over;
`graph` walks places, `site` makes answers of them. Pages that no link leads to are in `extras`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from skitter.lab.web import Link, Web

_GO = re.compile(r"/go/(\d{1,15})/(\d{1,15})")
_HOPS = re.compile(r"/hops/(\d{1,6})")
_LOOP = re.compile(r"/loop/(\d{1,15})/([ab])")
_PRIVATE = re.compile(r"/private/(\d{1,15})")
_CALENDAR = re.compile(r"/calendar/(\d{1,9})/(1[0-2]|[1-9])")
_REPEATING = re.compile(r"(/a)+")
_SITEMAP = re.compile(r"/sitemap-([1-9]\d{0,9})\.xml")


@dataclass(frozen=True, slots=True)
class Place:
    """What is at a path."""

    kind: str
    """page, plain (without faults or editions), trap, sitemap, or redirect."""
    title: str = ""
    links: list[Link] = field(default_factory=list)
    target: Link | None = None
    """Where a redirect leads."""
    page: int | None = None
    """The number of an ordinary page."""


class Places:
    """Looks paths up on the map."""

    def __init__(self, web: Web) -> None:
        self._web = web
        self._routes: list[tuple[re.Pattern[str], Callable[[int, re.Match[str]], Place | None]]]
        self._routes = [
            (_GO, self._go),
            (_HOPS, self._hops),
            (_LOOP, self._loop),
            (_PRIVATE, self._private),
            (_CALENDAR, self._calendar),
            (_REPEATING, self._repeating),
            (_SITEMAP, self._sitemap),
        ]

    def look(self, host: int, path: str) -> Place | None:
        """The place at a path of a host, or None where the map is blank."""
        page = self._web.page_number(path)
        if page is not None:
            return self._page(host, page)
        if path == "/sitemap.xml" and self._web.spec.sitemap:
            return Place("sitemap", links=self._sitemap_files(host))
        for pattern, make in self._routes:
            match = pattern.fullmatch(path)
            if match:
                return make(host, match)
        return None

    def _page(self, host: int, page: int) -> Place:
        title = f"Page {page} of {self._web.host(host)}"
        return Place("page", title, links=self._web.links(host, page), page=page)

    def _go(self, _host: int, match: re.Match[str]) -> Place | None:
        number, page = int(match[1]), int(match[2])
        if number >= self._web.spec.hosts or page >= self._web.spec.pages:
            return None
        return Place("redirect", target=(number, f"/p/{page}" if page else "/"))

    def _hops(self, host: int, match: re.Match[str]) -> Place:
        left = int(match[1])
        if left == 0:
            return Place("plain", "The end of the chain", links=[(host, "/")])
        return Place("redirect", target=(host, f"/hops/{left - 1}"))

    def _loop(self, host: int, match: re.Match[str]) -> Place:
        other = "b" if match[2] == "a" else "a"
        return Place("redirect", target=(host, f"/loop/{match[1]}/{other}"))

    def _private(self, host: int, match: re.Match[str]) -> Place:
        return Place("plain", f"Private {match[1]}", links=[(host, "/")])

    def _calendar(self, host: int, match: re.Match[str]) -> Place:
        months = int(match[1]) * 12 + int(match[2]) - 1
        near = [month for month in (months - 1, months + 1, months + 12) if month >= 0]
        links = [(host, f"/calendar/{month // 12}/{month % 12 + 1}") for month in near]
        return Place("trap", f"Calendar {match[1]}-{match[2]}", links=links)

    def _repeating(self, host: int, match: re.Match[str]) -> Place:
        links = [(host, f"{match[0]}/a"), (host, f"{match[0]}/a/a")]
        return Place("trap", f"Deep at {match[0].count('/')}", links=links)

    def _sitemap_files(self, host: int) -> list[Link]:
        spec = self._web.spec
        count = -(-spec.pages // spec.sitemap_urls)
        return [(host, f"/sitemap-{number}.xml") for number in range(1, count + 1)]

    def _sitemap(self, host: int, match: re.Match[str]) -> Place | None:
        spec = self._web.spec
        first = (int(match[1]) - 1) * spec.sitemap_urls
        if not spec.sitemap or first >= spec.pages:
            return None
        pages = range(first, min(first + spec.sitemap_urls, spec.pages))
        return Place("sitemap", links=[(host, f"/p/{page}" if page else "/") for page in pages])
