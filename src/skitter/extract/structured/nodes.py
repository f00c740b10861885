"""Plain dictionaries with `@type`, whoever wrote them: walking, references, text of values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

MOST_NODES = 20_000
DEEPEST = 30
# What hangs on these is another thing than the one that the page is about.
_ELSEWHERE = frozenset(
    {
        "isRelatedTo",
        "isSimilarTo",
        "isAccessoryOrSparePartFor",
        "isConsumableFor",
        "review",
        "reviews",
    }
)

Node = Mapping[str, Any]


def walk(values: Sequence[Any]) -> Iterator[Node]:
    """Every dictionary with a type, outermost first, within bounds."""
    waiting = [(value, 0) for value in reversed(values)]
    seen = 0
    while waiting and seen < MOST_NODES:
        value, depth = waiting.pop()
        seen += 1
        if depth > DEEPEST:
            continue
        if isinstance(value, Mapping):
            if "@type" in value:
                yield value
            inner = [part for name, part in value.items() if name not in _ELSEWHERE]
            waiting.extend((part, depth + 1) for part in reversed(inner) if _holds(part))
        elif isinstance(value, list):
            waiting.extend((part, depth + 1) for part in reversed(value) if _holds(part))


def _holds(value: Any) -> bool:
    return isinstance(value, Mapping | list)


def types(node: Node) -> set[str]:
    """The names of a node's types, without the vocabulary's address."""
    found = node.get("@type")
    names = found if isinstance(found, list) else [found]
    return {_local(name) for name in names if isinstance(name, str)}


def _local(name: str) -> str:
    return name.rstrip("/#").rpartition("/")[2].rpartition("#")[2].rpartition(":")[2]


class References:
    """Nodes by their `@id`, for `{"@id": "#offer"}` elsewhere."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self._nodes = {node["@id"]: node for node in nodes if isinstance(node.get("@id"), str)}

    def resolve(self, value: Any) -> Any:
        """What a mere reference refers to; anything else as it is."""
        if isinstance(value, Mapping) and set(value) == {"@id"}:
            return self._nodes.get(value["@id"], value)
        return value


def listed(value: Any) -> list[Any]:
    """The values of a property, which may be one or several."""
    if value is None:
        return []
    return list(value) if isinstance(value, list) else [value]


def text_of(value: Any) -> str:
    """A value's text: of a text, a number, a node's name or value, or the first of several."""
    for one in listed(value):
        if isinstance(one, Mapping):
            found = text_of(one.get("@value") or one.get("name") or one.get("value"))
        elif isinstance(one, bool):
            found = ""
        elif isinstance(one, str | int | Decimal):
            found = str(one) if not isinstance(one, Decimal) else format(one, "f")
        else:
            found = ""
        if found.strip():
            return found
    return ""


def first_text(node: Node, *names: str) -> str:
    """The text of the first of these properties that has one."""
    return next((text for name in names if (text := text_of(node.get(name)))), "")
