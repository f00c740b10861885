"""The text of an element as a reader sees it, without joining what is set apart.

`12<sup>99</sup>` is not 1299: raised digits are marked by `^`, so that no cleaner takes them for
more of the number, and digits of neighbouring elements are kept apart by a space.
"""

from __future__ import annotations

import re
from typing import Any

LONGEST = 1 << 20
_SPACES = re.compile(r"[ \t\r\f\v]+")
_HIDDEN = frozenset({"script", "style", "template", "noscript"})
_BLOCKS = frozenset(
    [
        "address",
        "article",
        "aside",
        "blockquote",
        "br",
        "dd",
        "div",
        "dl",
        "dt",
        "fieldset",
        "figcaption",
        "figure",
        "footer",
        "form",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "header",
        "hr",
        "li",
        "main",
        "nav",
        "ol",
        "option",
        "p",
        "pre",
        "section",
        "table",
        "tbody",
        "td",
        "tfoot",
        "th",
        "thead",
        "tr",
        "ul",
    ]
)


def element_text(element: Any) -> str:
    """All text below an lxml element, with line ends at blocks and single spaces elsewhere.

    Spaces of other kinds stay as they are: they are part of the raw text.
    """
    parts: list[str] = []
    _gather(element, parts)
    lines = "".join(parts)[:LONGEST].split("\n")
    return "\n".join(line for part in lines if (line := _SPACES.sub(" ", part).strip(" ")))


def _gather(root: Any, parts: list[str]) -> None:
    """Without recursion, for pages nest as deeply as they like."""
    waiting: list[tuple[Any, bool]] = [(root, True)]
    while waiting:
        element, opening = waiting.pop()
        if not opening:
            _close(element, parts, is_root=element is root)
            continue
        waiting.append((element, False))
        if isinstance(element.tag, str) and element.tag not in _HIDDEN:
            _open(element, parts)
            waiting.extend((child, True) for child in reversed(element))


def _open(element: Any, parts: list[str]) -> None:
    text = element.text or ""
    if element.tag in _BLOCKS:
        parts.append("\n")
    elif element.tag == "sup" and _ends_in_digit(parts) and text.lstrip()[:1].isdigit():
        parts.append("^")
    _append(parts, " ".join(text.split("\n")) if element.tag != "pre" else text)


def _close(element: Any, parts: list[str], *, is_root: bool) -> None:
    if element.tag in _BLOCKS:
        parts.append("\n")
    if not is_root and element.tail:
        _append(parts, " ".join(element.tail.split("\n")))


def _append(parts: list[str], text: str) -> None:
    if text and text[0].isdigit() and _ends_in_digit(parts):
        parts.append(" ")
    parts.append(text)


def _ends_in_digit(parts: list[str]) -> bool:
    last = next((part for part in reversed(parts) if part), "")
    return last[-1:].isdigit()
