"""A check of an item's fields, by a pydantic model or by a JSON Schema; both say why in words.

A refusal names the first field that is wrong, its raw value, and every reason. JSON Schema sees
dates as ISO 8601 text, and decimals as numbers.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, time
from pathlib import Path
from typing import Any, Self

import jsonschema
from jsonschema.validators import validator_for
from pydantic import BaseModel, ValidationError

from skitter.errors import BadSchema

MOST_REASONS = 20
LONGEST_REASON = 500
MOST_BYTES = 1 << 20
_OWN = frozenset({"raw", "problems"})

Problem = tuple[str, str]
"""A field, empty for the item as a whole, and what is wrong with it."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """An item that may be stored, its values as the model has them."""

    data: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Quarantined:
    """An item that may not. field and raw are of the first thing that is wrong."""

    reason: str
    field: str
    raw: str
    data: dict[str, Any]


class Validator:
    """Rules that items are checked against."""

    def __init__(self, name: str, judge: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
        self.name = name
        self._judge = judge

    @classmethod
    def of_model(cls, model: type[BaseModel]) -> Self:
        """The rules of a pydantic model, which also gives values their types."""
        return cls(model.__name__, lambda data: _by_model(model, data))

    @classmethod
    def of_schema(cls, schema: Mapping[str, Any], *, name: str = "schema") -> Self:
        """The rules of a JSON Schema; raises BadSchema."""
        kind = validator_for(schema, default=jsonschema.Draft202012Validator)
        try:
            kind.check_schema(dict(schema))
        except jsonschema.SchemaError as error:
            raise BadSchema(source=name, problem=error.message) from error
        checker = kind(schema, format_checker=kind.FORMAT_CHECKER)
        return cls(name, lambda data: _by_schema(checker, data))

    def check(self, data: Mapping[str, Any]) -> Accepted | Quarantined:
        """An item's fields, accepted or with the reason why not."""
        fields = dict(data)
        try:
            return Accepted(self._judge(fields))
        except _Unfit as unfit:
            return _refusal(unfit.problems, fields)


class _Unfit(Exception):
    def __init__(self, problems: list[Problem]) -> None:
        super().__init__()
        self.problems = problems


def load_schema(path: Path) -> dict[str, Any]:
    """The JSON Schema of a file; raises BadSchema."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise BadSchema(source=path, problem=f"it has more than {MOST_BYTES} bytes")
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadSchema(source=path, problem=str(error)) from error
    if not isinstance(found, dict):
        raise BadSchema(source=path, problem="it is no JSON object")
    return found


def _by_model(model: type[BaseModel], data: dict[str, Any]) -> dict[str, Any]:
    try:
        return model.model_validate(data).model_dump(exclude_unset=True)
    except ValidationError as error:
        raise _Unfit([_told(detail) for detail in error.errors()[:MOST_REASONS]]) from error


def _told(detail: Any) -> Problem:
    name = ".".join(str(part) for part in detail["loc"])
    message: str = detail["msg"]
    if detail["type"] == "missing":
        return name, "it is needed"
    message = message.removeprefix("Value error, ")
    before, colon, after = message.partition(": ")
    return (name, message) if name or not colon else (before, after)


def _by_schema(checker: Any, data: dict[str, Any]) -> dict[str, Any]:
    seen = {name: _plain(value) for name, value in data.items() if name not in _OWN}
    problems = [_of_schema(error) for error in _some(checker.iter_errors(seen))]
    if problems:
        raise _Unfit(problems)
    return data


def _some(errors: Iterator[Any]) -> list[Any]:
    return [error for error, _ in zip(errors, range(MOST_REASONS), strict=False)]


def _of_schema(error: Any) -> Problem:
    name = ".".join(str(part) for part in error.absolute_path)
    if error.validator == "required" and not name:
        missing = [one for one in error.validator_value if one not in error.instance]
        return (missing[0] if missing else ""), "it is needed"
    return name, error.message[:LONGEST_REASON]


def _plain(value: Any) -> Any:
    """A value in the form that JSON Schema knows."""
    if isinstance(value, Mapping):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(one) for one in value]
    return value.isoformat() if isinstance(value, date | time) else value


def _refusal(problems: list[Problem], data: dict[str, Any]) -> Quarantined:
    """Where extraction has said already why a value is missing, that is the better reason."""
    found = data.get("problems")
    known: Mapping[str, Any] = found if isinstance(found, Mapping) else {}
    reasons = [_reason(name, what, known) for name, what in problems]
    first = problems[0][0].partition(".")[0]
    return Quarantined("; ".join(reasons), first, _raw(first, data), data)


def _reason(name: str, what: str, known: Mapping[str, Any]) -> str:
    why = f" ({known[name]})" if name in known else ""
    return f"{name}: {what}{why}" if name else what


def _raw(name: str, data: Mapping[str, Any]) -> str:
    """What a field was read from; its value where that is the same."""
    raw = data.get("raw")
    if isinstance(raw, Mapping) and name in raw:
        return str(raw[name])
    return str(data.get(name, ""))
