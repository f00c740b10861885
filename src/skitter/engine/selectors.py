"""Scrapy's selectors, whose results are made without the constructor's questions.

A query for the links of a page gives a selector for each of them. Which kind each one is follows
from the selector that was asked; a plain query is compiled once. Everything that is not a plain
query of an HTML tree goes parsel's way.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from lxml import etree, html  # type: ignore[import-untyped]
from parsel.selector import _ctgroup
from scrapy.selector import Selector as ScrapySelector

if TYPE_CHECKING:
    from collections.abc import Mapping

_new = object.__new__
_TRANSLATORS = _ctgroup["html"]
_DEFAULTS: dict[str, str] = ScrapySelector._default_namespaces  # noqa: SLF001
_ELEMENT = etree._Element  # noqa: SLF001 - lxml has no public name for it
# As parsel makes one for each page.
_PARSER = html.HTMLParser(recover=True, encoding="utf-8", huge_tree=True)


@lru_cache(maxsize=2048)
def _compiled(query: str) -> Any:
    """A query, ready; none if parsel has to see it.

    It compiles queries with extensions anew each time, and tells what is wrong with others.
    """
    if "re:" in query or "set:" in query:
        return None
    try:
        return etree.XPath(query, smart_strings=False)
    except etree.XPathError:
        return None


def plain_markup(body: bytes) -> bytes:
    """A UTF-8 page as parsel would give it to lxml; nothing if that takes more than a look.

    parsel decodes, strips and encodes again. Nothing of that changes sound UTF-8 between its first
    and its last bracket.
    """
    found = body.strip()
    if found[:1] != b"<" or found[-1:] != b">" or b"\0" in found:
        return b""
    if not found.isascii():
        try:
            found.decode()
        except UnicodeDecodeError:
            return b""
    return found


class Selector(ScrapySelector):
    """As Scrapy's, but for the time that results take."""

    __slots__ = ()

    @classmethod
    def of_page(cls, response: Any, markup: bytes, base_url: str) -> Selector:
        """The selector of a page, of its plain markup."""
        root = etree.fromstring(markup, parser=_PARSER, base_url=base_url)
        if root is None:
            root = etree.fromstring(b"<html/>", parser=_PARSER, base_url=base_url)
        made = cls._new(root)
        made.response = response
        return made

    def xpath(self, query: str, namespaces: Mapping[str, str] | None = None, **kwargs: Any) -> Any:
        """The nodes that a query finds."""
        plain = self.type == "html" and not namespaces and self.namespaces == _DEFAULTS
        compiled = _compiled(query) if plain and isinstance(self.root, _ELEMENT) else None
        if compiled is None:
            return super().xpath(query, namespaces, **kwargs)
        try:
            found = compiled(self.root, **kwargs)
        except etree.XPathError as error:
            raise ValueError(f"XPath error: {error} in {query}") from error
        nodes = found if isinstance(found, list) else [found]
        make = self._new
        return self.selectorlist_cls(
            [_text(node, query) if type(node) is str else make(node, query) for node in nodes]
        )

    def css(self, query: str) -> Any:
        """The nodes that a query finds."""
        if self.type != "html":
            return super().css(query)
        return self.xpath(_TRANSLATORS["_csstranslator"].css_to_xpath(query))

    def get(self) -> Any:
        """The node as text; an attribute or a text is one already."""
        if self.type == "html" and isinstance(self.root, str):
            return str(self.root)
        return super().get()

    extract = get

    @classmethod
    def _new(cls, root: Any, query: str | None = None) -> Selector:
        made: Selector = _new(cls)
        made.root = root
        made.type = "html"
        made.namespaces = dict(_DEFAULTS)
        made.response = None
        made._expr = query
        made._huge_tree = True
        made._text = None
        return made


class _Text(Selector):
    """An attribute or a text. A page gives many, which differ in two things only."""

    __slots__ = ()
    type = "html"
    response = None
    _huge_tree = True
    _text = None

    @property
    def namespaces(self) -> dict[str, str]:  # type: ignore[override]
        """The usual ones: nothing can be asked of a text."""
        return dict(_DEFAULTS)

    def get(self) -> Any:
        """The text."""
        return self.root

    extract = get


_Text.__name__ = "Selector"  # as it is shown


def _text(text: str, query: str) -> Selector:
    made: _Text = _new(_Text)
    made.root = text
    made._expr = query  # noqa: SLF001 - the constructor's work
    return made
