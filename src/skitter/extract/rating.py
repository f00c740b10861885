"""Ratings: a value and what it is out of, as `4,5 / 5`, `4.5 out of 5 stars` or `★★★★☆`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

from skitter.extract.characters import plain
from skitter.extract.cleaned import Doubt, refusing
from skitter.extract.decimals import read_decimal
from skitter.extract.locale import UNDECLARED, Locale

_NUMBER = r"(\d{1,3}(?:[.,]\d{1,3})?)"
_OUT_OF = re.compile(
    rf"{_NUMBER}(?:\s?[^\W\d_]+)?\s?(?:/|out of|of|sur|von|de|su|van|из|av|z)\s?"
    r"(\d{1,3})(?![\d.,]*\d)",
    re.IGNORECASE,
)
_STARS = re.compile(r"[★⭐☆✩✰\s]+")


@dataclass(frozen=True, slots=True)
class Rating:
    """best is None where the page does not say."""

    value: Decimal
    best: Decimal | None = None


@refusing
def clean_rating(raw: str, locale: Locale = UNDECLARED) -> Rating:
    """A rating. Stars count as they are drawn, full ones out of all."""
    text = plain(raw)
    if _STARS.fullmatch(text):
        full = sum(text.count(star) for star in "★⭐")
        return Rating(Decimal(full), Decimal(len(text.replace(" ", ""))))
    match = _OUT_OF.search(text)
    if match is None:
        return Rating(_alone(text, locale))
    rating = Rating(read_decimal(match[1], declared=_mark(match[1], locale)), Decimal(match[2]))
    if rating.best is not None and rating.value > rating.best:
        raise Doubt(f"{rating.value} is more than the best, {rating.best}")
    return rating


def _alone(text: str, locale: Locale) -> Decimal:
    numbers = re.findall(r"\d[\d.,]*", text)
    if len(numbers) != 1:
        raise Doubt("it holds several numbers" if numbers else "it holds no number")
    number = numbers[0].rstrip(".,")
    return read_decimal(number, declared=_mark(number, locale))


def _mark(number: str, locale: Locale) -> str:
    """No rating reaches the thousands, so its one separator begins its decimals."""
    return locale.decimal or next((sign for sign in number if sign in ".,"), "")
