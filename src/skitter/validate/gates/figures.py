"""What a run's items give, read once from first to last in memory that does not grow with them.

Only what the gates ask for is measured. The figures are small enough to be kept with the job, and
the good ones are what later runs are compared with.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, Self

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from skitter.validate.gates.counters import Median, Newest, Repeats, moment_of, number_of
from skitter.validate.gates.spec import Gates

_EMPTY: tuple[Any, ...] = ("", [], (), {})


class RunFigures(BaseModel):
    """The figures of one run, by field where they are of fields."""

    model_config = ConfigDict(frozen=True)

    items: int = Field(ge=0)
    quarantined: int = Field(0, ge=0)
    filled: dict[str, int] = Field(default_factory=dict)
    """How many items have a value."""
    repeated: float | None = None
    """The share of items that repeat an earlier one."""
    medians: dict[str, float] = Field(default_factory=dict)
    newest: dict[str, AwareDatetime] = Field(default_factory=dict)
    taken_at: AwareDatetime

    def to_json(self) -> dict[str, Any]:
        """For whoever keeps them."""
        return self.model_dump(mode="json")

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """What `to_json` gave; ValueError for anything else."""
        return cls.model_validate(dict(value))


def figures_of(
    items: Iterable[Mapping[str, Any]],
    *,
    gates: Gates,
    quarantined: int = 0,
    now: datetime | None = None,
) -> RunFigures:
    """Measure items, each a mapping of its fields, for these gates.

    quarantined is how many of the run's items are held; now is when the run ended.
    """
    taken_at = now or datetime.now(UTC)
    measuring = _Measuring(gates, taken_at)
    for item in items:
        measuring.add(item)
    return measuring.figures(quarantined, taken_at)


class _Measuring:
    def __init__(self, gates: Gates, now: datetime) -> None:
        self._items = 0
        self._by = gates.duplicates.by if gates.duplicates else ()
        self._repeats = Repeats()
        self._filled = dict.fromkeys(gates.coverage, 0)
        self._medians = {name: Median() for name in gates.drift}
        self._newest = {name: Newest(now) for name in gates.max_age_h}

    def add(self, item: Mapping[str, Any]) -> None:
        self._items += 1
        for name in self._filled:
            self._filled[name] += is_filled(value_at(item, name))
        key = [value_at(item, name) for name in self._by]
        if any(map(is_filled, key)):
            self._repeats.add(key)
        for name, numbers in self._medians.items():
            if (number := number_of(value_at(item, name))) is not None:
                numbers.add(number)
        for name, times in self._newest.items():
            if (moment := moment_of(value_at(item, name))) is not None:
                times.add(moment)

    def figures(self, quarantined: int, taken_at: datetime) -> RunFigures:
        medians = {name: each.value() for name, each in self._medians.items()}
        newest = {name: each.value() for name, each in self._newest.items()}
        return RunFigures(
            items=self._items,
            quarantined=quarantined,
            filled=self._filled,
            repeated=self._repeats.share() if self._by else None,
            medians={name: value for name, value in medians.items() if value is not None},
            newest={name: value for name, value in newest.items() if value is not None},
            taken_at=taken_at,
        )


def is_filled(value: Any) -> bool:
    """Whether a value says something: none, blank text and what is empty do not."""
    if isinstance(value, str):
        return bool(value.strip())
    return value is not None and value not in _EMPTY


def value_at(item: Any, path: str) -> Any:
    """A field by its name, or by a path such as `offers.0.price`; None if there is none."""
    if isinstance(item, Mapping):
        if path in item:
            return item[path]
        name, dot, rest = path.partition(".")
        return value_at(item.get(name), rest) if dot else None
    name, dot, rest = path.partition(".")
    if not (isinstance(item, list | tuple) and name.isdecimal() and len(name) < 10):
        return None
    found = item[int(name)] if int(name) < len(item) else None
    return value_at(found, rest) if dot else found
