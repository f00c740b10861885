"""Prices, numbers and dates from the field, with the values that a person reads in them."""

from __future__ import annotations

import unicodedata
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import yaml

from skitter.extract.cleaned import Refused
from skitter.extract.dates import clean_date
from skitter.extract.locale import UNDECLARED, Locale, locale_of
from skitter.extract.numbers import clean_integer, clean_number, clean_percent
from skitter.extract.price import clean_price

FOLDER = Path(__file__).parent / "corpus"
NOW = datetime(2024, 6, 1, 12, tzinfo=UTC)
SCRIPTS = {
    "LATIN",
    "ARABIC",
    "CJK",
    "CYRILLIC",
    "THAI",
    "DEVANAGARI",
    "GREEK",
    "HANGUL",
    "HIRAGANA",
}
Case = dict[str, Any]


def cases(name: str) -> list[Case]:
    found: list[Case] = yaml.safe_load((FOLDER / name).read_text(encoding="utf-8"))
    return found


def named(case: Case) -> str:
    declared = [str(case[key]) for key in ("locale", "decimal", "order", "timezone") if key in case]
    return " ".join([case["raw"], *declared])


def locale(case: Case) -> Locale:
    declared = locale_of(case["locale"]) if "locale" in case else UNDECLARED
    return declared.with_parts(
        decimal=case.get("decimal", ""),
        date_order=case.get("order", ""),
        timezone=case.get("timezone", ""),
    )


def refused_as_expected(result: Any, case: Case) -> bool:
    """Whether the case is one to be refused; then checks the reason."""
    if "refused" not in case:
        assert not isinstance(result, Refused), result.reason
        assert result.raw == case["raw"]
        return False
    assert isinstance(result, Refused), result
    assert result.raw == case["raw"]
    assert case["refused"]
    assert case["refused"] in result.reason
    return True


@pytest.mark.parametrize("case", cases("prices.yaml"), ids=named)
def test_price(case: Case) -> None:
    result = clean_price(case["raw"], locale(case))
    if not refused_as_expected(result, case):
        price = result.value
        assert price is not None
        found = (price.amount, price.currency, price.currency_raw)
        assert found == (Decimal(case["amount"]), case["currency"], case["mark"])


@pytest.mark.parametrize("case", cases("numbers.yaml"), ids=named)
def test_number(case: Case) -> None:
    cleaners: dict[str, Any] = {
        "number": clean_number,
        "percent": clean_percent,
        "integer": clean_integer,
    }
    result = cleaners[case.get("as", "number")](case["raw"], locale(case))
    if not refused_as_expected(result, case):
        assert result.value == Decimal(case["value"])


@pytest.mark.parametrize("case", cases("dates.yaml"), ids=named)
def test_date(case: Case) -> None:
    now = NOW if case.get("relative") else None
    result = clean_date(case["raw"], locale(case), now=now)
    if not refused_as_expected(result, case):
        assert result.value is not None
        assert result.value.isoformat() == case["value"]


def test_the_corpus_is_large_and_from_many_places() -> None:
    by_kind = {name: cases(f"{name}.yaml") for name in ("prices", "numbers", "dates")}
    for found in by_kind.values():
        assert len({case["raw"] for case in found}) >= 100
        assert sum("refused" in case for case in found) >= 30
    texts = {case["raw"] for found in by_kind.values() for case in found}
    assert len(texts) >= 400
    assert {script for text in texts for script in scripts_of(text)} >= SCRIPTS


def scripts_of(text: str) -> set[str]:
    return {unicodedata.name(letter).split()[0] for letter in text if letter.isalpha()}
