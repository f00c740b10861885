"""What to follow from a page: links, and the next page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal
from urllib.parse import parse_qsl, urlencode, urlsplit

from parsel import Selector

from skitter.extract.cleaned import Cleaned
from skitter.extract.recipe.model import FollowRule, NextRule, PageRule
from skitter.extract.recipe.patterns import UrlPatterns, in_domains
from skitter.extract.recipe.places import Node, json_texts_at, select
from skitter.extract.urls import clean_url

MOST_LINKS = 10_000


@dataclass(frozen=True, slots=True)
class Link:
    """An address to follow. page is the kind of page that the recipe expects there, if it says."""

    url: str
    kind: Literal["follow", "next"]
    page: str = ""
    priority: int = 0


def links_of(name: str, rule: PageRule, root: Node, *, domains: tuple[str, ...]) -> list[Link]:
    """The links of a page, each once, in the page's order; the next page comes last."""
    found: dict[str, Link] = {}
    for link in _all(name, rule, root):
        if len(found) >= MOST_LINKS:
            break
        if link.url != root.document.url and in_domains(link.url, domains):
            found.setdefault(link.url, link)
    return list(found.values())


def _all(name: str, rule: PageRule, root: Node) -> Iterator[Link]:
    for follow in rule.follow:
        wanted, denied = UrlPatterns(follow.match), UrlPatterns(follow.deny)
        for url in _urls(follow, root):
            if wanted.fit(url) and not (follow.deny and denied.fit(url)):
                yield Link(url, "follow", follow.page or "", follow.priority)
    if rule.next is not None:
        for url in _next_urls(rule.next, root):
            yield Link(url, "next", name)


def _urls(rule: FollowRule | NextRule, root: Node) -> Iterator[str]:
    if rule.json_path is not None:
        texts = list(json_texts_at(rule.json_path, root))
    else:
        texts = [_address(found) for found in select(rule, root)]
    for text in texts:
        result = clean_url(text, root.document.base)
        if isinstance(result, Cleaned):
            yield result.value


def _address(found: Selector) -> str:
    """An element's href, or that of the first link in it; or what the selector chose."""
    if not hasattr(found.root, "tag"):
        return str(found.get())
    return found.xpath("(./@href | .//a/@href)[1]").get() or ""


def _next_urls(rule: NextRule, root: Node) -> Iterator[str]:
    if rule.param is None:
        yield from list(_urls(rule, root))[:1]
        return
    parts = urlsplit(root.document.url)
    query = dict(parse_qsl(parts.query, keep_blank_values=True))
    text = query.get(rule.param, str(rule.first))
    number = int(text) + rule.step if text.isdecimal() and len(text) < 10 else rule.last + 1
    if number <= rule.last and root.document.selector.css(rule.while_css or "*"):
        yield parts._replace(
            query=urlencode(query | {rule.param: str(number)}), fragment=""
        ).geturl()
