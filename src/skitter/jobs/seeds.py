"""From a line of text to a request: a URL as it stands, or a JSON object with its fields.

What is wrong with a line is told in words that a person can act on, and is that line's alone. An
unknown field is an error: left out in silence, a misspelt `priority` would be found too late.
"""

from __future__ import annotations

import difflib
import json
from dataclasses import dataclass
from typing import Any

from skitter.errors import BadRequest
from skitter.frontier import Request
from skitter.frontier.urls import START

_FIELDS: dict[str, tuple[type, str]] = {
    "url": (str, "text"),
    "method": (str, "text"),
    "headers": (dict, "an object"),
    "body": (str, "text"),
    "callback": (str, "text"),
    "errback": (str, "text"),
    "priority": (int, "a whole number"),
    "depth": (int, "a whole number"),
    "dont_filter": (bool, "true or false"),
    "meta": (dict, "an object"),
    "cb_kwargs": (dict, "an object"),
}


@dataclass(frozen=True, slots=True)
class Defaults:
    """What a seed has that does not say otherwise."""

    job: str
    callback: str = ""
    priority: int = 0


@dataclass(slots=True)
class Seed:
    """A request and where it was found; or, without a request, why there is none.

    number counts lines, or a sitemap's entries, from 1; 0: the source as a whole.
    """

    source: str
    number: int
    request: Request | None = None
    reason: str = ""
    text: str = ""
    size: int = 0

    @property
    def place(self) -> str:
        """Where it was found, as compilers say it."""
        return f"{self.source}:{self.number}" if self.number else self.source


def seed_of_line(text: str, defaults: Defaults, *, source: str, number: int) -> Seed:
    """A line's seed, with a request or with what is wrong with the line."""
    try:
        request = read_request(text, defaults)
    except BadRequest as error:
        return Seed(source, number, reason=error.reason, text=text[:200], size=len(text))
    return Seed(source, number, request, size=len(text))


def read_request(text: str, defaults: Defaults) -> Request:
    """The request of a URL or of a JSON object; raises BadRequest."""
    fields = _read_object(text) if text.startswith("{") else {"url": text}
    if fields["url"].strip() == START:
        raise BadRequest(url=START, reason="it is no absolute URL such as https://example.com/")
    for name in ("callback", "priority"):
        fields.setdefault(name, getattr(defaults, name))
    return Request(job=defaults.job, **fields)


def _read_object(text: str) -> dict[str, Any]:
    try:
        fields: dict[str, Any] = json.loads(text)
    except json.JSONDecodeError as error:
        raise BadRequest(url=text[:200], reason=f"it is not JSON: {error.msg}") from error
    except (RecursionError, ValueError) as error:
        raise BadRequest(url=text[:200], reason="it is not JSON that can be read") from error
    problem = _problem(fields)
    if problem:
        raise BadRequest(url=text[:200], reason=problem)
    fields = {name: value for name, value in fields.items() if value is not None}
    if "body" in fields:
        fields["body"] = _encoded(fields["body"])
    if "method" in fields:
        fields["method"] = fields["method"].upper()
    return fields


def _problem(fields: dict[str, Any]) -> str:
    """What is wrong with an object, or an empty text. null stands for the default."""
    if fields.get("url") is None:
        return "it has no url"
    for name, value in fields.items():
        if name not in _FIELDS:
            near = difflib.get_close_matches(name, _FIELDS, n=1)
            return f"{name[:40]!r} is no field" + (f"; did you mean {near[0]!r}?" if near else "")
        kind, words = _FIELDS[name]
        if value is not None and type(value) is not kind:
            return f"its {name} is not {words}"
    return _header_problem(fields.get("headers") or {})


def _header_problem(headers: dict[str, Any]) -> str:
    for name, value in headers.items():
        values = value if isinstance(value, list) else [value]
        if not all(isinstance(each, str) for each in values):
            return f"its header {name[:40]!r} is neither text nor a list of texts"
    return ""


def _encoded(body: str) -> bytes:
    try:
        return body.encode()
    except UnicodeEncodeError as error:
        raise BadRequest(url="", reason="its body has half of a character in it") from error
