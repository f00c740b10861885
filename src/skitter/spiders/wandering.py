"""One random link at a time: a walk that never branches, to see what a site is like.

Each choice is made from the seed, the step and the page, so a step that is replayed goes the same
way, on whichever worker. A page without links leads back to where the walk began.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from random import Random
from typing import Any

from scrapy import Request, Spider
from scrapy.http import Response, TextResponse

from skitter.extract.document import Document
from skitter.spiders.arguments import hosts_of, read_count, read_flag, read_urls
from skitter.spiders.items import WebPage
from skitter.spiders.link import links_on, title_of


class WanderingSpider(Spider):
    """Walks from each URL for a number of steps.

    Arguments: url or urls; steps (100); seed (1); offsite=1 to leave the hosts of the URLs.
    """

    name = "wandering"

    def __init__(
        self,
        *,
        url: str = "",
        urls: str = "",
        steps: str = "100",
        seed: str = "1",
        offsite: str = "",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.steps = read_count("steps", steps)
        self.seed = seed
        self.start_urls = read_urls(url, urls)
        self.offsite = read_flag("offsite", offsite)
        if not self.offsite:
            self.allowed_domains = hosts_of(self.start_urls)

    async def start(self) -> AsyncIterator[Any]:
        """The first step of each walk."""
        for url in self.start_urls:
            yield self._request(url, home=url, step=1)

    def parse(self, response: Response, home: str = "", step: int = 1) -> Iterator[Any]:
        """Where it is, and the next step."""
        home = home or response.url
        document = Document.of(response) if isinstance(response, TextResponse) else None
        links = self._open_links(links_on(document)) if document else []
        yield WebPage(url=response.url, step=step, title=title_of(document), links=len(links))
        yield from self._onward(links, response.url, home=home, step=step)

    def lost(self, failure: Any) -> Iterator[Any]:
        """A page that could not be had leads back to the beginning."""
        kwargs = failure.request.cb_kwargs
        if failure.request.url != kwargs["home"]:
            yield from self._onward([], failure.request.url, **kwargs)

    def _onward(self, links: list[str], here: str, *, home: str, step: int) -> Iterator[Request]:
        if step >= self.steps:
            return
        choice = Random(f"{self.seed} {step} {here}").choice(links or [home])
        yield self._request(choice, home=home, step=step + 1)

    def _open_links(self, links: list[str]) -> list[str]:
        """Those that the walk may take."""
        domains = self.allowed_domains if not self.offsite else None
        if not domains:
            return links
        return [url for url in links if any(_within(host, domains) for host in hosts_of([url]))]

    def _request(self, url: str, *, home: str, step: int) -> Request:
        """Pages may be met again: a walk would soon end otherwise."""
        kwargs = {"home": home, "step": step}
        return Request(url, dont_filter=True, errback=self.lost, cb_kwargs=kwargs)


def _within(host: str, domains: list[str]) -> bool:
    return any(host == one or host.endswith(f".{one}") for one in domains)
