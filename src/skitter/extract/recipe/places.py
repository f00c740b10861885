"""Where values stand: a rule's place on a node → texts, with a name for where they come from.

A node is an element, or, where items come from JSON, a JSON value; a place that does not apply to
it (a CSS selector on JSON) looks at the whole page.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Any

import jmespath
from parsel import Selector

from skitter.extract.document import Document
from skitter.extract.element_text import element_text
from skitter.extract.recipe.model import FollowRule, NextRule, Place

MOST_TEXTS = 10_000


@dataclass(frozen=True, slots=True)
class Text:
    """A text as it was found. number: it was a number in JSON, so its form is known."""

    text: str
    origin: str
    number: bool = False


@dataclass(frozen=True, slots=True)
class Node:
    """Part of a page: an element, or a JSON value."""

    document: Document
    selector: Selector | None = None
    value: Any = None

    @property
    def within(self) -> Selector:
        return self.document.selector if self.selector is None else self.selector


def texts_at(place: Place, node: Node) -> Iterator[Text]:
    """The texts at a place, cut by its regular expression, without those that do not fit it."""
    for text in _all_at(place, node):
        if place.regex is None:
            yield text
        elif match := _compiled(place.regex).search(text.text):
            yield Text(_first_group(match), f"{text.origin} by regex")


def _all_at(place: Place, node: Node) -> Iterator[Text]:
    if place.value is not None:
        yield Text(place.value, "recipe")
    elif place.url is not None:
        if match := _compiled(place.url).search(node.document.url):
            yield Text(_first_group(match), "url")
    elif place.json_path is not None:
        for value, origin in _json_at(place.json_path, place.script, node):
            yield from _json_texts(value, origin)
    else:
        origin = f"css {place.css}" if place.css else f"xpath {place.xpath}"
        for found in select(place, node):
            yield Text(text_of(found), origin)


def nodes_at(place: Place, node: Node) -> Iterator[Node]:
    """The parts of a page that `each` names."""
    if place.json_path is None:
        for found in select(place, node):
            yield Node(node.document, selector=found)
        return
    for value, _ in _json_at(place.json_path, place.script, node):
        for one in value if isinstance(value, list) else [value]:
            yield Node(node.document, value=one)


def select(place: Place | FollowRule | NextRule, node: Node) -> list[Selector]:
    """What a CSS selector or XPath finds, up to a bound."""
    found = node.within.css(place.css) if place.css else node.within.xpath(place.xpath or ".")
    return list(found[:MOST_TEXTS])


def text_of(found: Selector) -> str:
    """An element's text, or the text or attribute that the selector chose."""
    root = found.root
    return element_text(root) if hasattr(root, "tag") else str(found.get())


def json_texts_at(path: str, node: Node) -> Iterator[str]:
    """The texts that a JSON path leads to."""
    for value, origin in _json_at(path, None, node):
        for text in _json_texts(value, origin):
            yield text.text


def _json_at(path: str, script: str | None, node: Node) -> Iterator[tuple[Any, str]]:
    """The first value that a path leads to, in the node or in any JSON of the page."""
    values = [("item", node.value)] if node.value is not None else node.document.values
    for name, value in values:
        if script is not None and name != script:
            continue
        found = _compiled_path(path).search(value)
        if found not in (None, [], ""):
            yield found, f"json {name}: {path}"
            return


def _json_texts(value: Any, origin: str) -> Iterator[Text]:
    for one in value[:MOST_TEXTS] if isinstance(value, list) else [value]:
        if isinstance(one, bool):
            yield Text(str(one).lower(), origin)
        elif isinstance(one, int | Decimal):
            yield Text(
                format(one, "f") if isinstance(one, Decimal) else str(one), origin, number=True
            )
        elif isinstance(one, str):
            yield Text(one, origin)
        elif one is not None:
            yield Text(json.dumps(one, ensure_ascii=False, default=str), origin)


def _first_group(match: re.Match[str]) -> str:
    return next((group for group in match.groups() if group is not None), match.group())


@lru_cache(maxsize=1024)
def _compiled(text: str) -> re.Pattern[str]:
    return re.compile(text)


@lru_cache(maxsize=1024)
def _compiled_path(path: str) -> Any:
    return jmespath.compile(path)
