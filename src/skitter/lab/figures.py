"""Numbers as sites write them, and how often they change."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from random import Random
from typing import TypeVar

Choice = TypeVar("Choice")


def grouped(value: Decimal | int, *, places: int, mark: str, thousands: str) -> str:
    """A number with its thousands apart and so many decimals."""
    whole, _, decimals = f"{value:,.{places}f}".partition(".")
    text = whole.replace(",", thousands)
    return f"{text}{mark}{decimals}" if places else text


def edition(version: int, *, share: float, phase: float) -> int:
    """How often a thing has changed by a version, if each version changes this share of things.

    The phase, from 0 to 1, is the thing's own: it spreads the changes evenly over the versions.
    """
    return int(version * share + phase)


def pick(roll: Random, choices: Sequence[Choice]) -> Choice:
    """One of the choices; by `random()` alone, which is the same on every Python."""
    return choices[int(roll.random() * len(choices))]


def between(roll: Random, low: int, high: int) -> int:
    """A whole number from low to high, both included."""
    return low + int(roll.random() * (high - low + 1))
