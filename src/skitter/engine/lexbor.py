"""`response.css` on lexbor's tree, where a project or a spider asks for it: SKITTER_SELECTORS.

lexbor builds the tree of the HTML standard, as browsers do; lxml's is libxml2's, so results differ
on broken pages. `response.css` and what it gives are lexbor's; `response.xpath`, the selector and
link extractors stay lxml's. What it cannot do raises UnsupportedQuery, and is never guessed.
"""

from __future__ import annotations

import re
from functools import lru_cache
from re import Match, Pattern
from typing import TYPE_CHECKING, Any, NoReturn, SupportsIndex, overload

from parsel.utils import extract_regex
from selectolax.lexbor import (  # type: ignore[import-not-found, import-untyped, unused-ignore]
    LexborHTMLParser,
    SelectolaxError,
)

from skitter.engine.responses import HtmlResponse
from skitter.errors import UnsupportedQuery

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from scrapy.http import Request as ScrapyRequest

_PARTS = re.compile(r"""((?:[^,("'\[]|\([^)]*\)|\[[^\]]*\]|"[^"]*"|'[^']*')+)""")
_PSEUDO = re.compile(r"(?s)(.*)::(?:(text)|attr\(\s*([^\s)]+)\s*\))\s*$")


@lru_cache(maxsize=2048)
def _read(query: str) -> tuple[str, str, str]:
    """A query as lexbor takes it; `text`, `deep` or `attr` of what it finds, and the attribute."""
    texts = _PARTS.findall(query)
    texts = texts if ",".join(texts) == query else [query]  # lexbor says what is wrong with it
    parts = [_PSEUDO.match(part) or part for part in texts]
    kinds = {_kind(part) for part in parts}
    if len(kinds) != 1:
        raise UnsupportedQuery(query=query, reason="its parts ask for different things")
    kind, name = kinds.pop()
    found = [part if isinstance(part, str) else part[1] for part in parts]
    if kind == "deep" and name:
        raise UnsupportedQuery(query=query, reason="name the elements before ::attr")
    return ",".join(part.strip() or "*" for part in found), kind, name


def _kind(part: Match[str] | str) -> tuple[str, str]:
    if isinstance(part, str):
        return "", ""
    before, name = part[1], part[3] or ""
    deep = bool(before.strip()) and before[-1:].isspace()
    return "deep" if deep else "attr" if name else "text", name


def _found(node: Any, query: str) -> Iterator[Any]:
    """Nodes, or texts, that a query finds at and under a node."""
    plain, kind, name = _read(query)
    try:
        nodes = node.css(plain)
    except SelectolaxError as error:
        raise UnsupportedQuery(query=query, reason=str(error)) from error
    if not kind:
        yield from nodes
    elif kind == "attr":
        yield from ((one.attributes[name] or "") for one in nodes if name in one.attributes)
    elif kind == "text":
        yield from _texts(_own_children(nodes))
    else:
        every = {one.mem_id: one for top in nodes for one in top.traverse(include_text=True)}
        yield from _texts(every.values())


def _own_children(nodes: list[Any]) -> Iterator[Any]:
    """The children of all of these, in the order of the page: one may lie in another."""
    ids = {node.mem_id for node in nodes}
    outer = [node for node in nodes if not any(one.mem_id in ids for one in _above(node))]
    if len(outer) == len(nodes):
        return (child for node in nodes for child in node.iter(include_text=True))
    below = (child for node in outer for child in node.traverse(include_text=True))
    return (child for child in below if child.parent is not None and child.parent.mem_id in ids)


def _above(node: Any) -> Iterator[Any]:
    while (node := node.parent) is not None:
        yield node


def _texts(nodes: Iterable[Any]) -> Iterator[str]:
    return (node.text(deep=False) for node in nodes if node.is_text_node)


class LexborSelector:
    """An element, or a text, that `css` found. The names are parsel's."""

    __slots__ = ("root",)

    def __init__(self, root: Any) -> None:
        self.root = root

    def css(self, query: str) -> LexborSelectorList:
        """What a query finds here; nothing in a text."""
        if isinstance(self.root, str):
            return LexborSelectorList()
        return LexborSelectorList(map(LexborSelector, _found(self.root, query)))

    def xpath(self, query: str, **_kwargs: Any) -> NoReturn:
        """Not here: `response.xpath` asks lxml's tree of the page."""
        raise UnsupportedQuery(query=query, reason="lexbor knows no XPath")

    def get(self) -> str:
        """The element as HTML, or the text."""
        return self.root if isinstance(self.root, str) else str(self.root.html)

    extract = get

    def getall(self) -> list[str]:
        return [self.get()]

    @property
    def attrib(self) -> dict[str, str]:
        """The element's attributes."""
        given = {} if isinstance(self.root, str) else self.root.attributes
        return {name: value or "" for name, value in given.items()}

    def re(self, regex: str | Pattern[str], replace_entities: bool = True) -> list[str]:  # noqa: FBT001, FBT002 - parsel's signature
        """What a pattern finds in it."""
        return extract_regex(regex, self.get(), replace_entities=replace_entities)

    def re_first(self, regex: str | Pattern[str], default: Any = None) -> Any:
        """The first of these."""
        return next(iter(self.re(regex)), default)

    def __bool__(self) -> bool:
        return bool(self.get())

    def __repr__(self) -> str:
        return f"<LexborSelector {self.get()[:40]!r}>"


class LexborSelectorList(list[LexborSelector]):
    """What a query found, in the order of the page."""

    @overload
    def __getitem__(self, place: SupportsIndex) -> LexborSelector: ...
    @overload
    def __getitem__(self, place: slice) -> LexborSelectorList: ...
    def __getitem__(self, place: Any) -> Any:
        found = super().__getitem__(place)
        return LexborSelectorList(found) if isinstance(place, slice) else found

    def css(self, query: str) -> LexborSelectorList:
        """What a query finds in any of them."""
        return LexborSelectorList(found for one in self for found in one.css(query))

    def xpath(self, query: str, **_kwargs: Any) -> NoReturn:
        """Not here: `response.xpath` asks lxml's tree of the page."""
        raise UnsupportedQuery(query=query, reason="lexbor knows no XPath")

    def get(self, default: Any = None) -> Any:
        """The first one."""
        return self[0].get() if self else default

    extract_first = get

    def getall(self) -> list[str]:
        return [one.get() for one in self]

    extract = getall

    @property
    def attrib(self) -> dict[str, str]:
        """The attributes of the first one."""
        return self[0].attrib if self else {}

    def re(self, regex: str | Pattern[str], replace_entities: bool = True) -> list[str]:  # noqa: FBT001, FBT002 - parsel's signature
        """What a pattern finds in all of them."""
        return [text for one in self for text in one.re(regex, replace_entities)]

    def re_first(self, regex: str | Pattern[str], default: Any = None) -> Any:
        """The first of these."""
        return next(iter(self.re(regex)), default)


class LexborResponse(HtmlResponse):
    """A page whose `css` is lexbor's."""

    __slots__ = ("_lexbor",)
    _lexbor: Any

    def css(self, query: str) -> Any:
        """What a CSS query finds."""
        try:
            tree = self._lexbor
        except AttributeError:
            tree = self._lexbor = LexborHTMLParser(self.text)
        return LexborSelectorList(map(LexborSelector, _found(tree, query)))

    def follow(self, url: Any, *args: Any, **kwargs: Any) -> ScrapyRequest:
        """A request for a link of this page."""
        return super().follow(_link(url), *args, **kwargs)

    def follow_all(self, urls: Any = None, callback: Any = None, *args: Any, **kwargs: Any) -> Any:
        """Requests for many links of this page."""
        if urls is None and (query := kwargs.pop("css", None)):
            urls = self.css(query)
        if isinstance(urls, LexborSelectorList):
            urls = [link for link in map(_link, urls) if link is not None]
        return super().follow_all(urls, callback, *args, **kwargs)


def _link(found: Any) -> Any:
    """The URL of an element or of a text that was found; anything else as it is."""
    if not isinstance(found, LexborSelector):
        return found
    return found.root.strip() if isinstance(found.root, str) else found.attrib.get("href")
