"""Scrapy's selectors, whose results are made without the constructor's questions.

A query for the links of a page gives a selector for each of them. Which kind each one is follows
from the selector that was asked; a plain query is compiled once. Everything that is not a plain
query of an HTML tree goes parsel's way.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from lxml import etree  # type: ignore[import-untyped]
from scrapy.selector import Selector as ScrapySelector

if TYPE_CHECKING:
    from collections.abc import Mapping

_new = object.__new__
_DEFAULTS: dict[str, str] = ScrapySelector._default_namespaces  # noqa: SLF001
_ELEMENT = etree._Element  # noqa: SLF001 - lxml has no public name for it


@lru_cache(maxsize=2048)
def _compiled(query: str) -> Any:
    return etree.XPath(query, smart_strings=False)


def _is_plain(query: str) -> bool:
    """Whether a query uses none of the extensions, which parsel compiles anew each time."""
    return "re:" not in query and "set:" not in query


class Selector(ScrapySelector):
    """As Scrapy's, but for the time that results take."""

    __slots__ = ()

    def xpath(self, query: str, namespaces: Mapping[str, str] | None = None, **kwargs: Any) -> Any:
        """The nodes that a query finds."""
        plain = self.type == "html" and not namespaces and self.namespaces == _DEFAULTS
        if not (plain and isinstance(self.root, _ELEMENT) and _is_plain(query)):
            return super().xpath(query, namespaces, **kwargs)
        try:
            found = _compiled(query)(self.root, **kwargs)
        except etree.XPathError as error:
            raise ValueError(f"XPath error: {error} in {query}") from error
        nodes = found if isinstance(found, list) else [found]
        made = [self._made(node, query) for node in nodes]
        return self.selectorlist_cls(made)

    def get(self) -> Any:
        """The node as text; an attribute or a text is one already."""
        if self.type == "html" and isinstance(self.root, str):
            return str(self.root)
        return super().get()

    extract = get

    def _made(self, node: Any, query: str) -> Selector:
        made: Selector = _new(type(self))
        made.root = node
        made.type = "html"
        made.namespaces = dict(_DEFAULTS)
        made.response = None
        made._expr = query
        made._huge_tree = True
        made._text = None
        return made
