"""Cleaners by the names that recipes use, each giving a value and what belongs to it.

`price` gives a currency too, `stock` a quantity, `rating` what it is out of: those become fields
of their own, named after the field.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from skitter.extract.cleaned import Cleaned, Refused
from skitter.extract.currencies import candidates, resolve_currency
from skitter.extract.dates import clean_date, clean_epoch
from skitter.extract.fields import Field, Fields, field_of
from skitter.extract.locale import UNDECLARED, Locale
from skitter.extract.numbers import clean_integer, clean_number, clean_percent
from skitter.extract.price import Price, clean_price
from skitter.extract.rating import Rating, clean_rating
from skitter.extract.stock import Stock, clean_stock
from skitter.extract.text import clean_text
from skitter.extract.urls import clean_url


@dataclass(frozen=True, slots=True)
class Context:
    """What a cleaner may know: how the source writes, the page's address, the time."""

    locale: Locale = UNDECLARED
    base: str = ""
    now: datetime | None = None

    def as_machine(self) -> Context:
        """For a value that was a number in JSON: its decimal separator is known."""
        return replace(self, locale=self.locale.with_parts(decimal="."))


Result = Cleaned[Any] | Refused


def _currency(raw: str, context: Context) -> Result:
    mark = raw.strip()
    code = resolve_currency(mark, context.locale.currency)
    if code:
        return Cleaned(code, raw)
    known = " or ".join(candidates(mark)[:4])
    return Refused(raw, f"it may be {known}: declare it" if known else "no currency is written so")


CLEANERS: dict[str, Callable[[str, Context], Result]] = {
    "text": lambda raw, _: clean_text(raw),
    "lines": lambda raw, _: clean_text(raw, lines=True),
    "price": lambda raw, context: clean_price(raw, context.locale),
    "currency": _currency,
    "number": lambda raw, context: clean_number(raw, context.locale),
    "integer": lambda raw, context: clean_integer(raw, context.locale),
    "percent": lambda raw, context: clean_percent(raw, context.locale),
    "rating": lambda raw, context: clean_rating(raw, context.locale),
    "stock": lambda raw, _: clean_stock(raw),
    "date": lambda raw, context: clean_date(raw, context.locale, now=context.now),
    "epoch": lambda raw, _: clean_epoch(raw),
    "epoch_ms": lambda raw, _: clean_epoch(raw, unit_ms=True),
    "url": lambda raw, context: clean_url(raw, context.base),
    "raw": lambda raw, _: Cleaned(raw, raw) if raw else Refused(raw, "it is empty"),
}


def clean_field(name: str, cleaner: str, raw: str, context: Context, *, origin: str) -> Fields:
    """A field, and those that belong to it."""
    result = CLEANERS[cleaner](raw, context)
    value = result.value
    if isinstance(value, Price):
        parts = {"currency": value.currency, "currency_raw": value.currency_raw}
        return _with_parts(name, value.amount, parts, Field(None, result.raw, origin))
    if isinstance(value, Stock):
        return _with_parts(
            name, value.state, {"quantity": value.quantity}, Field(None, result.raw, origin)
        )
    if isinstance(value, Rating):
        return _with_parts(name, value.value, {"best": value.best}, Field(None, result.raw, origin))
    return {name: field_of(result, origin)}


def _with_parts(name: str, value: Any, parts: dict[str, Any], like: Field) -> Fields:
    """`price` has a `currency`; any other field has its name before the part's."""
    found = {name: replace(like, value=value)}
    for part, of_part in parts.items():
        if of_part not in (None, ""):
            full = part if name == "price" else f"{name}_{part}"
            found[full] = replace(like, value=of_part)
    return found
