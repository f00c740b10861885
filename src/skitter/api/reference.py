"""The page of the docs that lists every operation, made from the OpenAPI document."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

from skitter.api.app import bare_app
from skitter.api.examples import example_of, made, resolved

_PLAIN = "application/json"


def render_page() -> str:
    """The text of docs/api.md: what is written by hand, then the reference."""
    schema = bare_app().openapi()
    head = (files("skitter.api") / "reference_head.md").read_text(encoding="utf-8")
    sections: dict[str, list[str]] = {}
    for path, operations in schema["paths"].items():
        for method, operation in operations.items():
            entry = _operation(method.upper(), path, operation, schema)
            sections.setdefault(operation["tags"][0], []).append(entry)
    parts = [head]
    for tag, entries in sections.items():
        parts += [f"\n## {tag[0].upper()}{tag[1:]}\n", *entries]
    return "".join([*parts, _models(schema)])


def _operation(method: str, path: str, operation: dict[str, Any], schema: dict[str, Any]) -> str:
    told = operation.get("description", operation.get("summary", "")).strip()
    parts = [f"\n### `{method} {path}`\n\n{told}\n"]
    if role := operation.get("x-needs"):
        parts.append(f"\nNeeds: {role}.\n")
    parts += [_parameter(parameter) for parameter in operation.get("parameters", ())]
    parts += [_body(operation, schema), _answers(operation)]
    return "".join(parts)


def _parameter(parameter: dict[str, Any]) -> str:
    place = {"path": "in the path", "query": "query", "header": "header"}[parameter["in"]]
    kind = _kind(parameter["schema"])
    told = parameter.get("description", "")
    return f"\n- `{parameter['name']}` ({place}, {kind}) {told}".rstrip()


def _body(operation: dict[str, Any], schema: dict[str, Any]) -> str:
    content = operation.get("requestBody", {}).get("content", {})
    text = []
    for media, described in content.items():
        example = example_of(described, schema)
        form = "" if media == _PLAIN else f" ({media})"
        shown = example if isinstance(example, str) else _short(example)
        text.append(f"\n\nBody{form}, for example:\n\n```\n{shown.strip()}\n```\n")
        for name, field in _fields(described, schema).items():
            told = " ".join(field.get("description", "").split())
            text.append(f"\n- `{name}` ({_kind(field)}) {told}".rstrip())
    return "".join(text)


def _answers(operation: dict[str, Any]) -> str:
    """What it answers, by the names of the list at the page's end, and how it may refuse."""
    text = ""
    for status, response in operation["responses"].items():
        if status.startswith("2"):
            content = response.get("content", {})
            names = [_model(described) or media for media, described in content.items()]
            text += f"\n\nAnswers {status}{': ' if names else ''}{', '.join(names)}"
    refusals = sorted(status for status in operation["responses"] if not status.startswith("2"))
    return text + (f"; may refuse with {', '.join(refusals)}.\n" if refusals else ".\n")


def _model(described: dict[str, Any]) -> str:
    name = described.get("schema", {}).get("$ref", "").rpartition("/")[2]
    return f"[{name}](#{name.lower()})" if name else ""


def _models(schema: dict[str, Any]) -> str:
    """What operations answer with: an example and what is to be said of each field."""
    text = "\n## Answers\n"
    for name, model in sorted(schema["components"]["schemas"].items()):
        if not name.endswith("Out") and name != "Problem":
            continue
        told = " ".join(model.get("description", "").split())
        text += f"\n### {name}\n\n{told}\n\n```\n{_short(made(model, schema))}\n```\n"
        for field, described in model.get("properties", {}).items():
            if about := " ".join(described.get("description", "").split()):
                text += f"\n- `{field}`: {about}"
        text = text.rstrip() + "\n"
    return text


def _short(example: Any) -> str:
    """JSON in lines of a bearable length: a line for each field."""
    if not isinstance(example, dict) or len(json.dumps(example)) < 80:
        return json.dumps(example, ensure_ascii=False)
    lines = [
        f"  {json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}"
        for name, value in example.items()
    ]
    return "{\n" + ",\n".join(lines) + "\n}"


def _fields(described: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    return dict(resolved(described.get("schema", {}), schema).get("properties", {}))


def _kind(kind: dict[str, Any]) -> str:
    """A type in words."""
    if "anyOf" in kind:
        return " or ".join(_kind(each) for each in kind["anyOf"] if each.get("type") != "null")
    if "enum" in kind:
        return "one of " + ", ".join(map(str, kind["enum"]))
    if "$ref" in kind:
        return "object"
    words = {"integer": "whole number", "array": "list", "boolean": "true or false"}
    name = kind.get("type", "any value")
    return words.get(name, "text" if name == "string" else name)


if __name__ == "__main__":
    print(render_page(), end="")  # noqa: T201 - it is the page
