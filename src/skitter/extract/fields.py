"""One field of an item: its value, the raw text, where on the page it comes from, or why not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from skitter.extract.cleaned import Cleaned, Refused

LONGEST_RAW = 10_000


@dataclass(frozen=True, slots=True)
class Field:
    """value is None where there is none; reason then says why."""

    value: Any
    raw: str = ""
    origin: str = ""
    reason: str = ""


Fields = dict[str, Field]


def field_of(result: Cleaned[Any] | Refused, origin: str) -> Field:
    """A field from what a cleaner gave."""
    reason = result.reason if isinstance(result, Refused) else ""
    return Field(result.value, result.raw[:LONGEST_RAW], origin, reason)


@dataclass(slots=True)
class Extracted:
    """An item as it was found. kind is what the recipe calls it."""

    kind: str
    fields: Fields = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    """Fields that the recipe requires and that gave no value."""

    @property
    def data(self) -> dict[str, Any]:
        """The values alone."""
        return {name: one.value for name, one in self.fields.items() if one.value is not None}

    @property
    def raw(self) -> dict[str, str]:
        """What each value was read from, and what was refused."""
        return {name: one.raw for name, one in self.fields.items() if one.raw}

    @property
    def problems(self) -> dict[str, str]:
        """Why fields have no value."""
        reasons = {name: one.reason for name, one in self.fields.items() if one.reason}
        return reasons | {name: reasons.get(name, "nothing was found") for name in self.missing}


def fill(fields: Fields, more: Mapping[str, Field]) -> None:
    """Take what is not there yet; a value comes before a refusal."""
    for name, one in more.items():
        if name not in fields or (fields[name].value is None and one.value is not None):
            fields[name] = one
