"""What a full and polite crawl must bring home, walked without a network.

From the seeds, along links and redirects: pages that are answered 200 in the end are expected,
those that always fail are not, and neither is anything that is reached only through them. Paths
under a Disallow are not entered. Traps are entered as deep as `trap_depth` says (0: not at all),
counted in links from the first trap page. Of a demo site that a seed is on, every page is expected.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from skitter.lab.places import Place, Places

if TYPE_CHECKING:
    from collections.abc import Iterable

    from skitter.lab.web import Link, Web


@dataclass(frozen=True, slots=True)
class Graph:
    """URLs by what becomes of them in a full crawl."""

    pages: frozenset[str]
    """Answered 200 in the end: what coverage is measured against."""
    redirects: frozenset[str]
    failing: frozenset[str]
    """Never answered 200, though linked."""
    forbidden: frozenset[str]
    traps: frozenset[str]
    """Trap pages on or past the border of `trap_depth`, as far as links name them."""


def default_seeds(web: Web) -> list[str]:
    """The first host's home page: every page of a faultless web can be reached from it."""
    return [web.url((0, "/"))]


def walk(web: Web, seeds: Iterable[str] = (), *, trap_depth: int = 0) -> Graph:
    """The graph that can be reached from the seeds; unsaid, from the first host's home page."""
    return _Walk(web, trap_depth).run(list(seeds) or default_seeds(web))


@dataclass
class _Walk:
    web: Web
    trap_depth: int
    found: dict[str, set[str]] = field(
        default_factory=lambda: {
            name: set() for name in ("pages", "redirects", "failing", "forbidden", "traps")
        }
    )

    def run(self, seeds: list[str]) -> Graph:
        self._add_demos(seeds)
        places = Places(self.web)
        ahead = deque((link, 0) for link in map(self.web.locate, seeds) if link is not None)
        known = {link for link, _ in ahead}
        while ahead:
            link, depth = ahead.popleft()
            place = places.look(link[0], link[1].partition("?")[0])
            for target, target_depth in self._visit(link, place, depth):
                if target not in known:
                    known.add(target)
                    ahead.append((target, target_depth))
        return Graph(**{name: frozenset(urls) for name, urls in self.found.items()})

    def _add_demos(self, seeds: list[str]) -> None:
        for host in {urlsplit(seed).hostname or "" for seed in seeds}:
            demo = self.web.demos.at(host)
            if demo is not None:
                self.found["pages"].update(f"http://{host}{path}" for path in demo.paths())

    def _visit(self, link: Link, place: Place | None, depth: int) -> list[tuple[Link, int]]:
        """Note what a link leads to, and say where to go on and how deep in traps that is."""
        kind, trap_depth = self._judge(link, place, depth)
        self.found[kind].add(self.web.url(link))
        if place is None or kind not in ("pages", "redirects"):
            return []
        links = [place.target] if place.target else place.links
        return [(target, trap_depth) for target in links]

    def _judge(self, link: Link, place: Place | None, depth: int) -> tuple[str, int]:
        if self.web.disallowed(link[1]):
            return "forbidden", 0
        if place is None:
            return "failing", 0
        if place.kind == "trap":
            return ("pages" if depth < self.trap_depth else "traps"), depth + 1
        if place.kind == "redirect":
            return "redirects", 0
        fault = self.web.fault(link[0], place.page) if place.page else None
        return ("failing" if fault and fault.lasting else "pages"), 0
