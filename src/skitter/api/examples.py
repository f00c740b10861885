"""Examples for the OpenAPI document: those that models have, and values made for the others."""

from __future__ import annotations

from typing import Any


def add_examples(schema: dict[str, Any]) -> None:
    """Give every body and every answer an example where it has none of its own.

    FastAPI leaves out what is null in the examples of models; it is put back first.
    """
    for model in schema["components"]["schemas"].values():
        for example in model.get("examples", ()):
            _put_nulls_back(example, model, schema)
    for operations in schema["paths"].values():
        for operation in operations.values():
            bodies = [operation.get("requestBody", {}), *operation["responses"].values()]
            for described in (each for body in bodies for each in body.get("content", {}).values()):
                described.setdefault("example", example_of(described, schema))


def example_of(described: dict[str, Any], schema: dict[str, Any]) -> Any:
    """An example of its own, or one of the model that it is."""
    if "example" in described:
        return described["example"]
    return made(described.get("schema", {}), schema)


def made(kind: dict[str, Any], schema: dict[str, Any]) -> Any:
    """A value for a schema: its example, or one made of its fields' examples."""
    model = resolved(kind, schema)
    if model.get("examples"):
        return model["examples"][0]
    if model.get("type") == "array":
        return [made(model["items"], schema)]
    if model.get("type") == "object" and "properties" in model:
        return {name: made(field, schema) for name, field in model["properties"].items()}
    if "anyOf" in model:
        return made(model["anyOf"][0], schema)
    if "enum" in model:
        return model["enum"][0]
    plain = {"integer": 1, "number": 1.0, "boolean": False, "object": {}, "null": None}
    return model.get("const", plain.get(model.get("type", ""), _text(model)))


def _text(model: dict[str, Any]) -> str:
    return "2026-11-16T08:15:00Z" if model.get("format") == "date-time" else "…"


def _put_nulls_back(example: Any, kind: dict[str, Any], schema: dict[str, Any]) -> None:
    model = resolved(kind, schema)
    if isinstance(example, list):
        for each in example:
            _put_nulls_back(each, model.get("items", {}), schema)
    elif isinstance(example, dict):
        for name in model.get("required", ()):
            example.setdefault(name, None)
        for name, field in model.get("properties", {}).items():
            _put_nulls_back(example.get(name), field, schema)


def resolved(kind: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    """What a schema is, where it only names another."""
    if "$ref" in kind:
        found: dict[str, Any] = schema["components"]["schemas"][kind["$ref"].rpartition("/")[2]]
        return found
    return kind
