"""Links that are known to be queued already: most of those on a page, as a crawl goes on.

What a settled page gave is in the server's set of seen URLs; met again, it need not be stored, sent
and looked up. Remembered for a minute or two and in bounds, by job and URL as written. Only plain
links: a body, another method or `dont_filter` make another request of the same URL.
"""

from __future__ import annotations

import time
from collections import defaultdict, deque
from typing import TYPE_CHECKING

from scrapy.http import Request as ScrapyRequest

from skitter.engine.requests import OTHER_SPIDER, written_url

if TYPE_CHECKING:
    from skitter.intake import Page

MOST = 50_000
KEPT_S = 60.0


class KnownLinks:
    """Two generations: the older one is forgotten when the younger is full or a minute old.

    While epoch is the same object, nothing is forgotten.
    """

    def __init__(self) -> None:
        self.met = 0
        self.epoch = object()
        self._young: defaultdict[str, set[str]] = defaultdict(set)
        self._old = self._young.copy()
        self._added = 0
        self._born_at = time.monotonic()
        self._settled: deque[Page] = deque()
        self._servers_met = 0

    def settled(self, page: Page) -> None:
        """A page was settled; when that has been accepted, its children are known."""
        if page.children:
            self._settled.append(page)

    def harvest(self, servers_met: int) -> None:
        """Take over what has been accepted meanwhile.

        A server that came up again may have lost what it had acknowledged: then nothing is known.
        """
        if servers_met != self._servers_met:
            self._servers_met = servers_met
            self._turn()
            self._turn()
            self._settled.clear()
        while self._settled and self._settled[0].over:
            page = self._settled.popleft()
            if page.accepted and page.settlement:
                for child in page.settlement.children:
                    if child.method == "GET" and not (child.body or child.dont_filter):
                        self._young[child.job].add(written_url(child))
                        self._added += 1
        if self._added > MOST or time.monotonic() > self._born_at + KEPT_S:
            self._turn()

    def has(self, job: str, request: ScrapyRequest) -> bool:
        """Whether a request would change nothing."""
        if not self.has_url(job, request._url):  # noqa: SLF001 - once for each link
            return False
        meta = request._meta  # noqa: SLF001
        return (
            type(request) is ScrapyRequest
            and request.method == "GET"
            and not (request._body or request.dont_filter)  # noqa: SLF001
            and not (meta and (OTHER_SPIDER[0] in meta or OTHER_SPIDER[1] in meta))
        )

    def has_url(self, job: str, url: str) -> bool:
        """Whether a plain link would change nothing."""
        return url in self._young.get(job, ()) or url in self._old.get(job, ())

    def _turn(self) -> None:
        """The younger ones are the older ones now."""
        self._old, self._young = self._young, defaultdict(set)
        self._added, self._born_at = 0, time.monotonic()
        self.epoch = object()
