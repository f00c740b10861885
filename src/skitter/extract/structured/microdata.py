"""Microdata → the dictionaries that JSON-LD gives.

By the HTML standard: values by element, nested items, `itemref`. Written here because the library
for it loads an RDF store into every worker and takes longer than parsing the page.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any
from urllib.parse import urljoin

MOST_ITEMS = 2000
MOST_ELEMENTS = 200_000
DEEPEST = 30
_ATTRIBUTES = {
    "meta": "content", "audio": "src", "embed": "src", "iframe": "src", "img": "src",
    "source": "src", "track": "src", "video": "src", "a": "href", "area": "href", "link": "href",
    "object": "data", "data": "value", "meter": "value", "time": "datetime",
}  # fmt: skip
_LINKS = frozenset({"src", "href", "data"})


def read_microdata(root: Any, base: str) -> list[dict[str, Any]]:
    """The items of a page that are no property of another one."""
    tops = root.xpath("//*[@itemscope and not(@itemprop)]")
    reader = _Reader(root, base)
    return [reader.item(element) for element in tops[:MOST_ITEMS]]


class _Reader:
    def __init__(self, root: Any, base: str) -> None:
        self._root = root
        self._base = base
        self._open: set[Any] = set()
        self._elements_left = MOST_ELEMENTS
        self._items_left = MOST_ITEMS

    @cached_property
    def _by_id(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for element in self._root.xpath("//*[@id]"):
            found.setdefault(element.get("id"), element)
        return found

    def item(self, element: Any) -> dict[str, Any]:
        """An item with its properties. One that holds itself, by itemref, is cut off there."""
        found: dict[str, Any] = {"@type": (element.get("itemtype") or "").split()}
        if element.get("itemid"):
            found["@id"] = urljoin(self._base, element.get("itemid", "").strip())
        if element in self._open or len(self._open) > DEEPEST or self._items_left <= 0:
            return found
        self._items_left -= 1
        self._open.add(element)
        for prop in self._properties(element):
            value = self._value(prop)
            for name in (prop.get("itemprop") or "").split():
                _add(found, name.rpartition("/")[2], value)
        self._open.discard(element)
        return found

    def _properties(self, element: Any) -> list[Any]:
        found: list[Any] = []
        for root in [element, *self._referred(element)]:
            self._gather(root, found, own=root is not element)
        return found

    def _referred(self, element: Any) -> list[Any]:
        names = (element.get("itemref") or "").split()[:50]
        return [self._by_id[name] for name in names if name in self._by_id]

    def _gather(self, element: Any, found: list[Any], *, own: bool) -> None:
        """Properties below an element, in order, and not those of items inside it."""
        waiting = [element] if own else list(reversed(element))
        while waiting and self._elements_left > 0:
            one = waiting.pop()
            if not isinstance(one.tag, str):
                continue
            self._elements_left -= 1
            if one.get("itemprop") is not None:
                found.append(one)
            if one.get("itemscope") is None:
                waiting.extend(reversed(one))

    def _value(self, element: Any) -> Any:
        if element.get("itemscope") is not None:
            return self.item(element)
        attribute = _ATTRIBUTES.get(element.tag, "")
        value = element.get(attribute) if attribute else None
        if value is None:
            # Not in the standard, and everywhere.
            value = element.get("content") or _text(element)
        return _join(self._base, value) if attribute in _LINKS else value.strip()


def _text(element: Any) -> str:
    parts = element.xpath(".//text()[not(parent::script or parent::style)]")
    return " ".join("".join(parts).split())


def _join(base: str, value: str) -> str:
    try:
        return urljoin(base, value.strip())
    except ValueError:
        return value.strip()


def _add(found: dict[str, Any], name: str, value: Any) -> None:
    if name not in found:
        found[name] = value
    elif isinstance(found[name], list):
        found[name].append(value)
    else:
        found[name] = [found[name], value]
