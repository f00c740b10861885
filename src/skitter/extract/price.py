"""Prices: an exact amount, its currency as an ISO code, and the mark that stood on the page.

Words around a price with a currency are let pass (`Prix TTC 12,50 €`), except those that make it
another thing: a price per kilogram, a lowest price, a saving. A minus or parentheses make it none.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

from skitter.extract.cleaned import Doubt, refusing
from skitter.extract.locale import UNDECLARED, Locale
from skitter.extract.reading import Reading, read
from skitter.extract.vocabulary import bounded, longest_first, words

_PER_UNIT = re.compile(
    r"/\s*[^\W\d_]|\b(?:per|pro|je|par|por|al)\s+[^\W\d_]|[^\W\d_]\s*/\s*$|\ble (?:kg|litre|m)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Price:
    """currency is empty where the page does not tell it; currency_raw is what stood there."""

    amount: Decimal
    currency: str = ""
    currency_raw: str = ""


@refusing
def clean_price(raw: str, locale: Locale = UNDECLARED) -> Price:
    """A price such as `1 299,000 DT`, `$1,299.99` or `12€50`."""
    reading = read(raw, locale)
    _check(reading)
    return Price(reading.value, reading.currency, reading.mark)


def _check(reading: Reading) -> None:
    around = f"{reading.left} {reading.right}"
    if reading.percent:
        raise Doubt("it is a percentage")
    if reading.arrow or reading.parentheses:
        raise Doubt("its arrow or its parentheses may mean a change or a negative amount")
    if reading.sign and not (reading.sign == "-" and reading.sign_apart and reading.left):
        raise Doubt(f"a price has no sign {reading.sign}")
    if _PER_UNIT.search(reading.right) or _PER_UNIT.search(reading.left):
        raise Doubt("it is a price for a unit")
    if _not_the_price().search(around):
        raise Doubt("its words say that it is not the price itself")
    if reading.glued:
        raise Doubt("what touches the number is not understood")
    if not reading.mark:
        _check_words(reading)


def _check_words(reading: Reading) -> None:
    """Without a currency, words tell whether it is a price at all: `Model 500`, `500 ml`."""
    has_label = reading.left.rstrip().endswith(":")
    words_beside = reading.right if has_label else f"{reading.left} {reading.right}"
    if re.search(r"[^\W\d_]", words_beside):
        raise Doubt(f"it has no currency, and {words_beside.strip()!r} is not understood")


@lru_cache(maxsize=1)
def _not_the_price() -> re.Pattern[str]:
    known = words("price")
    return re.compile(f"(?i){bounded(known['bounded'])}|{longest_first(known['unbounded'])}")
