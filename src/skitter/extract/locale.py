"""What a source declares of how it writes: separators, currency, order of dates, time zone.

Nothing is declared by default, and then whatever could be read in two ways is refused. `fr-TN`
stands for what Unicode's CLDR says of French in Tunisia; each part may be declared otherwise, for
shops do not always write as their country does.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal, cast
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from skitter.extract.currencies import codes

DateOrder = Literal["", "DMY", "MDY", "YMD"]
Separator = Literal["", ".", ","]


@dataclass(frozen=True, slots=True)
class Locale:
    """How one source writes. Empty: not declared. Languages and countries are `fr`, `TN`."""

    decimal: Separator = ""
    currency: str = ""
    date_order: DateOrder = ""
    timezone: str = ""
    languages: tuple[str, ...] = ()
    country: str = ""

    def with_parts(
        self,
        *,
        decimal: str = "",
        currency: str = "",
        date_order: str = "",
        timezone: str = "",
    ) -> Locale:
        """The same with these parts declared otherwise, where they are given."""
        given = {
            "decimal": decimal,
            "currency": currency,
            "date_order": date_order,
            "timezone": timezone,
        }
        return replace(self, **{name: value for name, value in given.items() if value})  # type: ignore[arg-type]

    @property
    def zone(self) -> ZoneInfo | None:
        """The time zone of times that name none."""
        return ZoneInfo(self.timezone) if self.timezone else None


UNDECLARED = Locale()
MACHINE = Locale(decimal=".")
"""How numbers are written where machines read them: JSON, and schema.org's values."""


@lru_cache(maxsize=256)
def locale_of(name: str) -> Locale:
    """The locale of a language in a country, `fr-TN`; raises ValueError with what is wrong."""
    from babel import Locale as Described  # noqa: PLC0415 - few processes need it
    from babel import UnknownLocaleError  # noqa: PLC0415

    if not re.fullmatch(r"[A-Za-z]{2,3}([-_][A-Za-z]{4})?[-_]([A-Za-z]{2}|419)", name):
        raise ValueError(f"{name!r} is not a language with its country, such as fr-TN")
    try:
        found = Described.parse(name.replace("-", "_"))
    except (UnknownLocaleError, ValueError) as error:
        raise ValueError(f"{name!r} is not a locale that is known") from error
    pattern = found.date_formats["short"].pattern
    order = "".join(dict.fromkeys(letter.upper() for letter in pattern if letter in "dMy"))
    decimal = found.number_symbols["latn"]["decimal"]
    return Locale(
        decimal=cast("Separator", decimal if decimal in (".", ",") else ""),
        currency=_currency(found.territory or ""),
        date_order=cast("DateOrder", order if order in ("DMY", "MDY", "YMD") else ""),
        languages=(found.language,),
        country=found.territory or "",
    )


def _currency(territory: str) -> str:
    """The country's currency, if it has one and no other."""
    from babel.numbers import get_territory_currencies  # noqa: PLC0415 - as above

    found = get_territory_currencies(territory) if territory else []
    return found[0] if len(found) == 1 and found[0] in codes() else ""


def known_zone(name: str) -> bool:
    """Whether there is such a time zone."""
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True
