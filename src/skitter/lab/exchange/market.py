"""How a market writes its figures; read from `markets.yaml`.

A sign is written in the way of its ticker: minus signs of five kinds, or parentheses.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from functools import cache
from importlib.resources import files

import yaml
from pydantic import TypeAdapter

from skitter.lab.figures import grouped

MINUSES = ("-", "\u2212", "\u2013", "\ufe63", "\uff0d", "()")
PLUSES = ("+", "")
MISSING = "\u2014"
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_MAGNITUDES = (("T", 10**12), ("B", 10**9), ("M", 10**6), ("K", 10**3))


@dataclass(frozen=True)
class Market:
    """A market of the exchange."""

    slug: str
    name: str
    suffix: str
    """What its tickers end with."""
    currencies: tuple[str, ...]
    places: int
    """Decimals of a price."""
    scale: int
    """How many of its currency's units make about a dollar."""
    decimal_mark: str
    thousands: str
    percent: str
    magnitude: str
    """A number and its K, M, B or T."""
    zone: str
    offset_hours: int
    time: str
    json: bool = False
    """Whether its quote pages are empty and fill themselves from the JSON endpoint."""

    @property
    def path(self) -> str:
        return f"/markets/{self.slug}/"

    def number(self, value: Decimal | int, *, places: int | None = None) -> str:
        """A number without a sign."""
        return grouped(
            Decimal(value).copy_abs(),
            places=self.places if places is None else places,
            mark=self.decimal_mark,
            thousands=self.thousands,
        )

    def percentage(self, value: Decimal) -> str:
        """A percentage without a sign."""
        return self.percent.format(self.number(value, places=2))

    def short(self, value: int | None) -> str:
        """A large number with the suffix of its magnitude, exactly."""
        if value is None:
            return MISSING
        suffix, unit = next(pair for pair in _MAGNITUDES if value >= pair[1])
        return self.magnitude.format(self.number(Decimal(value) / unit, places=2), suffix)

    def long(self, value: int | None) -> str:
        """A large number in full."""
        return MISSING if value is None else self.number(value, places=0)

    def moment(self, time: datetime) -> str:
        """A time on the market's own clock."""
        local = time.astimezone(timezone(timedelta(hours=self.offset_hours)))
        return self.time.format(
            year=local.year,
            month=_MONTHS[local.month - 1],
            month02=f"{local.month:02}",
            day=local.day,
            day02=f"{local.day:02}",
            hour=f"{local.hour:02}",
            hour12=local.hour % 12 or 12,
            minute=f"{local.minute:02}",
            half="PM" if local.hour >= 12 else "AM",
            zone=self.zone,
        )


def signed(value: Decimal, text: str, *, minus: str, plus: str) -> str:
    """A number's text with its sign; zero has none."""
    if value > 0:
        return f"{plus}{text}"
    if value < 0:
        return f"({text})" if minus == "()" else f"{minus}{text}"
    return text


@cache
def load_markets() -> tuple[Market, ...]:
    """All markets, in their order."""
    text = (files("skitter.lab.exchange") / "markets.yaml").read_text(encoding="utf-8")
    return TypeAdapter(tuple[Market, ...]).validate_python(yaml.safe_load(text))
