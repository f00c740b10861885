"""All structured data of a page, each kind read when it is first asked for."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from skitter.extract.structured.embedded import Embedded, read_embedded
from skitter.extract.structured.lenient_json import BrokenJson, load_json
from skitter.extract.structured.microdata import read_microdata
from skitter.extract.structured.nodes import Node, References, walk

MOST_BLOCKS = 100
_JSON_LD = (
    "//script[starts-with(translate(normalize-space(@type), 'ADEFGHIJKLMNOPRSTUVWX', "
    "'adefghijklmnoprstuvwx'), 'application/ld+json')]"
)
_META = "//meta[@content][@property or @name]"
_PREFIXES = ("og:", "product:", "article:", "twitter:", "book:")


@dataclass
class Structured:
    """The structured data below an element. problems tells what could not be read."""

    root: Any
    base: str
    problems: list[str] = field(default_factory=list)

    @cached_property
    def json_ld(self) -> list[Node]:
        """Every node with a type, outermost first; a broken block does not spoil the others."""
        if self.root is None:
            return []
        blocks: list[Any] = []
        for number, script in enumerate(self.root.xpath(_JSON_LD)[:MOST_BLOCKS], start=1):
            try:
                blocks.append(load_json(script.text or ""))
            except BrokenJson as error:
                self.problems.append(f"JSON-LD block {number}: {str(error)[:200]}")
        return list(walk(blocks))

    @cached_property
    def microdata(self) -> list[Node]:
        """Every item, outermost first."""
        if self.root is None:
            return []
        return list(walk(read_microdata(self.root, self.base)))

    @cached_property
    def open_graph(self) -> dict[str, list[str]]:
        """The page's `og:`, `product:` and similar properties."""
        found: dict[str, list[str]] = {}
        for meta in [] if self.root is None else self.root.xpath(_META)[:1000]:
            name = (meta.get("property") or meta.get("name") or "").strip().lower()
            if name.startswith(_PREFIXES) and meta.get("content", "").strip():
                found.setdefault(name, []).append(meta.get("content").strip())
        return found

    @cached_property
    def embedded(self) -> list[Embedded]:
        """JSON in scripts, in the page's order."""
        if self.root is None:
            return []
        found, problems = read_embedded(self.root)
        self.problems.extend(problems)
        return found

    @cached_property
    def references(self) -> References:
        """JSON-LD's nodes by their ids."""
        return References(self.json_ld)


def read_structured(text: str, url: str = "") -> Structured:
    """The structured data of an HTML text."""
    from skitter.extract.document import Document  # noqa: PLC0415 - it knows this module

    return Document(url, text).structured
