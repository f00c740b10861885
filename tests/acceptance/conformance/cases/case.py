"""What all cases have in common: an ordinary spider, and what there is to know about it."""

from __future__ import annotations

from typing import Any, ClassVar
from urllib.parse import quote, urlsplit

import scrapy
from scrapy.exceptions import IgnoreRequest


class Case(scrapy.Spider):
    """One behaviour, said in the docstring. Begins at `paths` of the site."""

    paths: ClassVar[tuple[str, ...]] = ()
    gives: ClassVar[int] = 1
    """How many items it gives: a case that gives nothing would prove nothing."""
    in_order: ClassVar[bool] = False
    """Whether requests have to come in the same order."""
    apart: ClassVar[tuple[str, ...]] = ()
    """Stats that are different on purpose; docs/engine.md says why."""

    def __init__(self, site: str = "", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.site = site
        self.start_urls = [self.url(path) for path in self.paths]

    def url(self, path: str, *, host: str = "") -> str:
        """An address at the site; all hosts under .test are the same site."""
        site = self.site.replace("shop.test", host) if host else self.site
        return site + path

    def parse(self, response: Any) -> Any:
        yield seen(response)

    def failed(self, failure: Any) -> Any:
        """An errback that tells what it got."""
        answer = getattr(failure.value, "response", None)
        ignored = failure.check(IgnoreRequest)
        yield {
            "failed": "IgnoreRequest" if ignored else type(failure.value).__name__,
            "url": failure.request.url,
            "status": answer.status if answer is not None else 0,
        }


def seen(response: Any, **more: Any) -> dict[str, Any]:
    """What a response is like to a spider."""
    return {
        "url": response.url,
        "asked": response.request.url,
        "method": response.request.method,
        "status": response.status,
        "kind": type(response).__name__,
        "body": response.body.decode("latin-1"),
        "depth": response.meta.get("depth"),
        "flags": response.flags,
        **more,
    }


def to(path: str) -> str:
    """A path as a value in a query."""
    return quote(path, safe="")


def leads_to(*paths: str, **more: str) -> str:
    """A page with these links."""
    query = [f"to={to(path)}" for path in paths]
    return "/links?" + "&".join(query + [f"{name}={to(value)}" for name, value in more.items()])


def port_of(url: str) -> int:
    return urlsplit(url).port or 80
