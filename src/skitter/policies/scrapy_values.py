"""Scrapy's settings as values: from a module they have types, from a command line they are text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from skitter.errors import BadScrapySetting

_YES = {"true": True, "1": True, "false": False, "0": False, "": False}


class Told:
    """The settings that somebody set, read as Scrapy reads them; what is not set is None or 0."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = {name: value for name, value in values.items() if value is not None}

    def __contains__(self, name: str) -> bool:
        return name in self._values

    def flag(self, name: str) -> bool | None:
        """True or false, or None."""
        if name not in self._values:
            return None
        value = self._values[name]
        answer = (
            _YES.get(str(value).strip().lower()) if isinstance(value, str | bool | int) else None
        )
        if answer is None:
            raise BadScrapySetting(name=name, value=value, problem="is neither true nor false")
        return answer

    def number(self, name: str) -> int | None:
        """A whole number, or None."""
        if name not in self._values:
            return None
        try:
            return int(self._values[name])
        except (TypeError, ValueError, OverflowError) as error:
            raise self._bad(name, "is no whole number") from error

    def real(self, name: str) -> float:
        """A number from 0 up; 0 if it is not set."""
        try:
            number = float(self._values.get(name, 0))
        except (TypeError, ValueError) as error:
            raise self._bad(name, "is no number") from error
        if not 0 <= number < 1e12:
            raise self._bad(name, "is not a number from 0 up")
        return number

    def text(self, name: str) -> str | None:
        """A text that is not empty, or None."""
        value = self._values.get(name)
        return str(value) if value else None

    def numbers(self, name: str) -> tuple[int, ...] | None:
        """A list of whole numbers, or None; as text they are separated by commas."""
        if name not in self._values:
            return None
        value = self._values[name]
        if isinstance(value, str):
            value = [part for part in value.strip("[]").split(",") if part.strip()]
        try:
            return tuple(int(part) for part in value)
        except (TypeError, ValueError) as error:
            raise self._bad(name, "is no list of numbers") from error

    def slots(self) -> dict[str, Mapping[str, Any]]:
        """DOWNLOAD_SLOTS: a dictionary of dictionaries, or the JSON of one."""
        value = self._values.get("DOWNLOAD_SLOTS", {})
        try:
            found = json.loads(value) if isinstance(value, str) else dict(value)
        except (TypeError, ValueError) as error:
            raise self._bad("DOWNLOAD_SLOTS", "is no dictionary") from error
        if not isinstance(found, dict) or not all(isinstance(v, Mapping) for v in found.values()):
            raise self._bad("DOWNLOAD_SLOTS", "should hold a dictionary for each slot")
        return found

    def _bad(self, name: str, problem: str) -> BadScrapySetting:
        return BadScrapySetting(name=name, value=self._values[name], problem=problem)
