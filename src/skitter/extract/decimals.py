"""Digits with separators → an exact Decimal, or a Doubt.

`3.350` is three and a bit in one country and over three thousand in another. Which one it is
follows from the text (two kinds of separators, the number of digits behind one), from what the
source declares, or from a currency that has no decimals; else it is refused.
"""

from __future__ import annotations

import re
from decimal import Context, Decimal

from skitter.extract.cleaned import Doubt

ARABIC_DECIMAL = "\u066b"
SEPARATORS = " .,'\u066b\u066c"
MOST_DIGITS = 60
EXACT = Context(prec=200)
_PARTS = re.compile(rf"[{SEPARATORS}]")
_WESTERN = re.compile(r"[1-9]\d{0,2}(?:([ .,'\u066c])\d{3})(?:\1\d{3})*")
_INDIAN = re.compile(r"[1-9]\d?(?:,\d{2})*,\d{3}")


def read_decimal(text: str, *, declared: str = "", places: int | None = None) -> Decimal:
    """The number that digits with separators stand for.

    declared is the source's decimal separator. places is how many decimals the currency has.
    """
    if len(text) > MOST_DIGITS:
        raise Doubt(f"its number has more than {MOST_DIGITS} digits")
    mark = _decimal_mark(text, declared, places)
    if not mark:
        return Decimal(_ungrouped(text, text, declared))
    whole, _, rest = text.rpartition(mark)
    return Decimal(f"{_ungrouped(whole, text, mark)}.{rest}")


def _decimal_mark(text: str, declared: str, places: int | None) -> str:
    """The decimal separator in this text; empty if it is a whole number."""
    if ARABIC_DECIMAL in text:
        return ARABIC_DECIMAL
    if declared:
        if text.count(declared) > 1:
            raise Doubt(f"{text} has several {declared}, the declared decimal separator")
        return declared if declared in text else ""
    kinds = {sign for sign in text if sign in ".,"}
    if len(kinds) == 2:
        return text[max(text.rfind("."), text.rfind(","))]
    mark = kinds.pop() if kinds else ""
    if not mark or text.count(mark) > 1:
        return ""
    return mark if _is_decimal(text, mark, places) else ""


def _is_decimal(text: str, mark: str, places: int | None) -> bool:
    """Whether the only dot or comma begins the decimals."""
    whole, _, rest = text.partition(mark)
    if len(rest) != 3 or len(whole) > 3 or whole.startswith("0") or not whole:
        return True
    if places == 0:
        return False
    raise Doubt(f"{text} could be {whole}{rest} or {whole}.{rest}: declare the decimal separator")


def _ungrouped(whole: str, text: str, mark: str) -> str:
    """The digits before the decimals, if they are grouped as someone groups them."""
    if not _PARTS.search(whole):
        return whole or "0"
    if mark and mark in whole:
        raise Doubt(f"{text} has several {mark}")
    if _WESTERN.fullmatch(whole) or _INDIAN.fullmatch(whole):
        return _PARTS.sub("", whole)
    where = f" where {mark} is the decimal separator" if mark else ""
    raise Doubt(f"{text} is not how a number is written{where}")
