"""Finance figures: signs, parentheses, percent, magnitudes. Words that are not understood refuse.

A number that is followed by a word which nobody knows may be a millionth or a million of what it
seems, so there is no number without knowing all of its text; a label before a colon is let pass.
"""

from __future__ import annotations

import re
from decimal import Decimal

from skitter.extract.cleaned import Doubt, refusing
from skitter.extract.locale import UNDECLARED, Locale
from skitter.extract.reading import DOWN, Reading, read

_LABEL = re.compile(r"[^\d()]*[^\W\d_][^\d()]*:")
_IGNORED = " .,;:!*|\"'"


@refusing
def clean_number(raw: str, locale: Locale = UNDECLARED) -> Decimal:
    """A figure, such as `(1,234.5)`, `-1,2 Mio. €` or `1.2B`. A currency beside it is let pass."""
    reading = read(raw, locale)
    if reading.percent:
        raise Doubt("it is a percentage")
    return _signed(reading, locale)


@refusing
def clean_percent(raw: str, locale: Locale = UNDECLARED) -> Decimal:
    """A percentage in percent: `-5,25 %` is -5.25. The sign may be missing."""
    reading = read(raw, locale)
    if reading.mark:
        raise Doubt(f"it is an amount in {reading.mark}")
    return _signed(reading, locale)


@refusing
def clean_integer(raw: str, locale: Locale = UNDECLARED) -> int:
    """A whole number: a count, a volume."""
    reading = read(raw, locale)
    value = _signed(reading, locale)
    if reading.percent or value != value.to_integral_value():
        raise Doubt("it is not a whole number")
    return int(value)


def _signed(reading: Reading, locale: Locale) -> Decimal:
    _check_rest(reading)
    negative = reading.sign == "-" or reading.parentheses
    if reading.sign and reading.parentheses:
        raise Doubt("it has a sign and parentheses, which may both make it negative")
    if reading.arrow and not reading.sign and not reading.parentheses:
        negative = _points_down(reading.arrow, locale)
    return -reading.value if negative else reading.value


def _points_down(arrow: str, locale: Locale) -> bool:
    if arrow in DOWN:
        return True
    if arrow in "▲△" and (not locale.languages or "ja" in locale.languages):
        raise Doubt(f"{arrow} is up on most pages and a minus in Japanese accounts")
    return False


def _check_rest(reading: Reading) -> None:
    left, right = reading.left.strip(_IGNORED.replace(":", "")), reading.right.strip(_IGNORED)
    if left and not _LABEL.fullmatch(left):
        raise Doubt(f"{left!r} before the number is not understood")
    if right:
        raise Doubt(f"{right!r} behind the number is not understood")
