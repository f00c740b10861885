"""What a run is asked for, and where that is said: by the spider, its recipe, or the job.

There are no gates unless someone asks for them. What the job says replaces what the recipe says,
and that what the spider says, name by name; what a spider calls usual stands behind all of them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Self

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from skitter.errors import BadGates
from skitter.validate.gates.declared import Declared, plain

USUAL = "usual"
MOST_FIELDS = 50
MOST_BYTES = 64 << 10

Name = Annotated[str, Field(min_length=1, max_length=200)]
Share = Annotated[float, Field(ge=0, le=1)]
Drift = Annotated[float, Field(gt=0, le=1000)]
Hours = Annotated[float, Field(gt=0, le=24 * 3660)]
Names = Annotated[
    tuple[Name, ...],
    BeforeValidator(lambda value: [value] if isinstance(value, str) else value),
    Field(min_length=1, max_length=10),
]


class Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Duplicates(Part):
    """The same thing under several identities, told by fields that make it one."""

    by: Names
    most: Share = 0.0


class Gates(Part):
    """What a run has to pass. Fields are named as in exports: `price`, `offers.0.price`."""

    least_items: int = Field(1, ge=0)
    """Fewer items than this fail. A run without any has nothing to be judged by: hence 1."""
    most_drop: Share | None = None
    """The share by which items may be fewer than in the median of past runs."""
    coverage: dict[Name, Share] = Field(default_factory=dict, max_length=MOST_FIELDS)
    """The least share of items that have a value, by field."""
    duplicates: Duplicates | None = None
    """The largest share of items that repeat an earlier one."""
    drift: dict[Name, Drift] = Field(default_factory=dict, max_length=MOST_FIELDS)
    """How far a field's median may be from the median of past runs, as a share of that."""
    max_age_h: dict[Name, Hours] = Field(default_factory=dict, max_length=MOST_FIELDS)
    """The greatest age, in hours, of the newest time in a field."""
    most_quarantined: Share | None = None
    """The largest share of what was found that is in quarantine."""
    past_runs: int = Field(5, ge=1, le=100)
    """How many of the last good runs are looked at."""

    @classmethod
    def of(cls, spider: type[Any] | None, options: Mapping[str, Any]) -> Gates | None:
        """The gates of a job, or None where nobody asks for any; raises BadGates.

        options are the job's: `gates` (names and values, as JSON too; `usual` for what the spider
        suggests; `none`) and `args`, the spider's arguments, which may name a recipe.
        """
        told = options.get("gates")
        if _of_job(told) == "none":
            return None
        return cls.asked(Declared.of(spider, options.get("args") or {}), told)

    @classmethod
    def asked(cls, declared: Declared, told: Any) -> Gates | None:
        """The same where it is known what the spider declares; told are the job's gates."""
        told = _of_job(told)
        if told == "none":
            return None
        if declared.problem:
            raise BadGates(source="spider", problem=declared.problem)
        if told == USUAL and not declared.usual:
            raise BadGates(source="job", problem="its spider has no usual gates; say which")
        if told == USUAL:
            found = declared.usual | declared.gates
        else:
            found = declared.gates | plain(told, source="job")
        return cls.checked(found, source="job, recipe or spider") if found else None

    @classmethod
    def checked(cls, value: Any, *, source: str) -> Self:
        """Gates from plain values; raises BadGates, which names every mistake."""
        try:
            return cls.model_validate(value)
        except ValidationError as error:
            problems = "; ".join(map(_told, error.errors()))
            raise BadGates(source=source, problem=problems) from error

    @classmethod
    def load(cls, path: Path) -> Self:
        """The gates of a YAML file, at its top or under `gates`, as in a recipe."""
        try:
            if path.stat().st_size > MOST_BYTES:
                raise BadGates(source=path, problem=f"it has more than {MOST_BYTES} bytes")
            value = yaml.safe_load(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, yaml.YAMLError, RecursionError) as error:
            raise BadGates(source=path, problem=str(error)) from error
        if isinstance(value, dict) and "gates" in value:
            value = value["gates"]
        return cls.checked(value, source=str(path))


def _of_job(value: Any) -> Any:
    """What a job says: names and values, `usual` or `none`."""
    if isinstance(value, str) and value not in (USUAL, "none", ""):
        value = _of_text(value)
    return "none" if value is False else value


def _of_text(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        problem = f"{text[:80]!r} is neither {USUAL!r} nor 'none' nor JSON"
        raise BadGates(source="job", problem=problem) from error


def _told(detail: Any) -> str:
    name = ".".join(str(part) for part in detail["loc"] if part != "[key]")
    if detail["type"] == "extra_forbidden":
        return f"{name}: there is no such gate; there are {', '.join(Gates.model_fields)}"
    message = str(detail["msg"]).replace("Input should", "it should")
    return f"{name}: {message}" if name else message
