"""JSON in a page's scripts: `<script type="application/json">` and `window.__STATE__ = {…}`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from skitter.extract.structured.lenient_json import (
    LONGEST_JSON,
    BrokenJson,
    load_json,
    load_object,
)

MOST_SCRIPTS = 200
MOST_VALUES = 50
_ASSIGNMENT = re.compile(
    r"(?:\b(?:var|let|const)\s+|(?:window|self|globalThis)\s*(?:\.|\[\s*['\"]))"
    r"(?P<name>[A-Za-z_$][\w$.]{0,80})(?:['\"]\s*\])?\s*=\s*"
    r"(?:(?=[{\[])|(?P<parse>JSON\.parse\(\s*)(?=[\"']))"
)


@dataclass(frozen=True, slots=True)
class Embedded:
    """A value from a script; name is the script's id, or the variable's."""

    name: str
    value: Any


def read_embedded(root: Any) -> tuple[list[Embedded], list[str]]:
    """The values, and what could not be read."""
    found: list[Embedded] = []
    problems: list[str] = []
    for script in _scripts(root):
        kind = (script.get("type") or "").partition(";")[0].strip().lower()
        text = script.text or ""
        if kind in ("application/json", "text/json", "application/hal+json"):
            name = script.get("id") or script.get("class") or "application/json"
            _keep(found, problems, name, partial(load_json, text))
        elif kind in ("", "text/javascript", "application/javascript", "module"):
            for name, load in _assigned(text):
                _keep(found, problems, name, load)
        if len(found) >= MOST_VALUES:
            break
    return found[:MOST_VALUES], problems


def _scripts(root: Any) -> list[Any]:
    scripts: list[Any] = root.xpath("//script[not(@src)]")
    return [script for script in scripts[:MOST_SCRIPTS] if script.text]


def _assigned(text: str) -> Iterator[tuple[str, Any]]:
    """The objects that a script assigns to variables, each with the way to load it."""
    if len(text) > LONGEST_JSON:
        return
    for count, match in enumerate(_ASSIGNMENT.finditer(text)):
        if count >= MOST_VALUES:
            return
        yield (
            match["name"],
            partial(_parsed if match["parse"] else load_object, text[match.end() :]),
        )


def _parsed(text: str) -> Any:
    """The argument of JSON.parse: a text in quotes, which holds JSON."""
    quoted = re.match(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'", text, re.DOTALL)
    if quoted is None:
        raise BrokenJson("its quotes are not closed")
    inner = load_object(f"[{quoted.group()}]")
    return load_json(inner[0])


def _keep(found: list[Embedded], problems: list[str], name: str, load: Any) -> None:
    try:
        value = load()
    except (ValueError, IndexError, TypeError) as error:
        problems.append(f"script {name[:80]}: {str(error)[:200]}")
        return
    if isinstance(value, dict | list) and value:
        found.append(Embedded(name, value))
