"""What a spider's class, and the recipe that its arguments name, ask of a run: plain values.

The process that runs a spider knows its class; whoever judges the run may not. So this goes from
the one to the other as text, with the job.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from pydantic import BaseModel

from skitter.errors import BadGates

SETTING = "SKITTER_GATES"


@dataclass(frozen=True)
class Declared:
    """gates count by themselves, usual where a job asks for it; problem is why they are unknown."""

    gates: dict[str, Any] = field(default_factory=dict)
    usual: dict[str, Any] = field(default_factory=dict)
    problem: str = ""

    @classmethod
    def of(cls, spider: type[Any] | None, args: Mapping[str, Any]) -> Declared:
        """What a class says of jobs with these arguments; raises BadGates."""
        settings = getattr(spider, "custom_settings", None) or {}
        found = plain(settings.get(SETTING), source=SETTING)
        found |= plain(getattr(spider, "gates", None), source="spider")
        ask = getattr(spider, "gates_for", None)
        if ask is not None:
            found |= plain(ask(args), source="recipe")
        return cls(found, plain(getattr(spider, "usual_gates", None), source="spider"))

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Declared:
        """What `to_json` gave."""
        return cls(**value)

    def to_json(self) -> dict[str, Any]:
        """What says something."""
        return {name: value for name, value in asdict(self).items() if value}


def plain(value: Any, *, source: str) -> dict[str, Any]:
    """Names and values; raises BadGates for what is none of that."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", exclude_unset=True)
    if value is not None and value != "" and not isinstance(value, Mapping):
        raise BadGates(source=source, problem=f"{value!r} is no mapping of names to values")
    return dict(value or {})
