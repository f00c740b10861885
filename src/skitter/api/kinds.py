"""The kinds of values that requests hold, with their bounds."""

from __future__ import annotations

import json
from typing import Annotated, Any

from fastapi import Path, Query
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

MOST_DEPTH = 20


def _storable(value: Any) -> Any:
    """Half characters and NUL have no place in JSON text that others must read."""
    if value is None:
        return None
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        text.encode()
    except (ValueError, RecursionError) as error:
        raise ValueError("it holds something that JSON text cannot") from error
    if "\\u0000" in text:
        raise ValueError("it holds a NUL character")
    return value


Text = Annotated[str, Field(max_length=2_000), AfterValidator(_storable)]
Word = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_storable)]
Anything = Annotated[Any, AfterValidator(_storable)]
Object = Annotated[dict[str, Any], AfterValidator(_storable)]
Project = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$", examples=["default"])]
JOB_ID = r"^[A-Za-z0-9][A-Za-z0-9._:@+=-]{0,127}$"

JobId = Annotated[str, Path(pattern=JOB_ID, description="The job's id.", examples=["books"])]
HostName = Annotated[
    str,
    Path(
        pattern=r"^[A-Za-z0-9._-]{1,253}$",
        description="The host's name; where politeness.unit is domain, its registered domain.",
        examples=["books.example"],
    ),
]
Cursor = Annotated[
    str | None,
    Query(max_length=500, description="Where to go on: `next` of the page before."),
    AfterValidator(_storable),
]
Limit = Annotated[int, Query(ge=1, le=500, description="How many at the most.")]
Filter = Annotated[str | None, Query(max_length=200), AfterValidator(_storable)]
Priority = Annotated[int, Field(ge=-1_000_000, le=1_000_000)]


class Given(BaseModel):
    """What a request holds: an unknown field is an error, for it would be left out in silence."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)


class Told(BaseModel):
    """What an answer holds."""

    model_config = ConfigDict(use_attribute_docstrings=True)
