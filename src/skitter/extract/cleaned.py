"""What cleaning gives: a value beside its raw form, or a refusal that says why.

A cleaner never guesses. Inside, it raises `Doubt` where a text can be read in two ways or in none;
`refusing` turns that into a `Refused`, and bounds what is looked at. Both results have `raw` and
`value`, so that whoever does not care for reasons may read `value` alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Concatenate, Generic, ParamSpec, TypeVar

LONGEST = 500
"""Prices, numbers and dates are short; a longer text is a wrong selector."""

T = TypeVar("T")
P = ParamSpec("P")


@dataclass(frozen=True, slots=True)
class Cleaned(Generic[T]):
    """A value, and the text that it was read from."""

    value: T
    raw: str


@dataclass(frozen=True, slots=True)
class Refused:
    """A text from which no value was read, and why."""

    raw: str
    reason: str

    @property
    def value(self) -> None:
        """There is none."""
        return None


class Doubt(Exception):
    """Why a text gives no value. Raised inside cleaners only."""


def refusing(
    clean: Callable[Concatenate[str, P], T],
) -> Callable[Concatenate[str, P], Cleaned[T] | Refused]:
    """A cleaner from a function that raises Doubt."""

    @wraps(clean)
    def cleaner(raw: str, /, *args: P.args, **kwargs: P.kwargs) -> Cleaned[T] | Refused:
        if len(raw) > LONGEST:
            return Refused(raw[:LONGEST], f"it is longer than {LONGEST} characters")
        if not raw.strip():
            return Refused(raw, "it is empty")
        try:
            return Cleaned(clean(raw, *args, **kwargs), raw)
        except Doubt as doubt:
            return Refused(raw, str(doubt))

    return cleaner
