"""What Unicode's CLDR writes is read back, or refused: never read as something else."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal
from random import Random

import pytest
from babel.dates import format_date
from babel.numbers import format_currency, format_decimal

from skitter.extract.cleaned import Cleaned
from skitter.extract.currencies import decimals
from skitter.extract.dates import clean_date
from skitter.extract.locale import locale_of
from skitter.extract.numbers import clean_number
from skitter.extract.price import clean_price

LOCALES = [
    "ar-EG",
    "ar-TN",
    "bg-BG",
    "bn-BD",
    "ca-ES",
    "cs-CZ",
    "da-DK",
    "de-AT",
    "de-CH",
    "de-DE",
    "el-GR",
    "en-AU",
    "en-GB",
    "en-IN",
    "en-US",
    "en-ZA",
    "es-AR",
    "es-ES",
    "es-MX",
    "et-EE",
    "fi-FI",
    "fr-CA",
    "fr-CH",
    "fr-FR",
    "fr-TN",
    "he-IL",
    "hi-IN",
    "hr-HR",
    "hu-HU",
    "id-ID",
    "it-IT",
    "ja-JP",
    "ko-KR",
    "lt-LT",
    "lv-LV",
    "ms-MY",
    "nb-NO",
    "nl-NL",
    "pl-PL",
    "pt-BR",
    "pt-PT",
    "ro-RO",
    "ru-RU",
    "sk-SK",
    "sl-SI",
    "sv-SE",
    "th-TH",
    "tr-TR",
    "uk-UA",
    "vi-VN",
    "zh-CN",
    "zh-TW",
]
# In their long form, which dateparser does not know; refused, not misread.
UNREAD_DAYS = {"lt-LT", "lv-LV"}


def babel_name(name: str) -> str:
    return name.replace("-", "_")


def drawn(random: Random, places: int) -> Decimal:
    """Numbers of all lengths, and often ones with three decimals or none."""
    digits = random.randrange(10 ** random.randint(1, 12))
    return Decimal(digits).scaleb(-places)


@pytest.mark.parametrize("name", LOCALES)
def test_numbers(name: str) -> None:
    random = Random(name)
    for _ in range(60):
        value = drawn(random, random.randint(0, 3)) * random.choice([1, -1])
        text = format_decimal(value, locale=babel_name(name), numbering_system="default")
        assert clean_number(text, locale_of(name)).value == value, text
        assert clean_number(text).value in (value, None), text


@pytest.mark.parametrize("name", LOCALES)
def test_prices(name: str) -> None:
    random, locale = Random(name), locale_of(name)
    for _ in range(60):
        code = locale.currency or "EUR"
        value = drawn(random, decimals(code) or 0)
        text = format_currency(value, code, locale=babel_name(name), numbering_system="default")
        result = clean_price(text, locale)
        assert isinstance(result, Cleaned), (text, result)
        assert (result.value.amount, result.value.currency) == (value, code), text
        undeclared = clean_price(text).value
        assert undeclared is None or undeclared.amount == value, text
        assert undeclared is None or undeclared.currency in (code, ""), text


@pytest.mark.parametrize("name", LOCALES)
def test_dates(name: str) -> None:
    random, locale = Random(name), locale_of(name)
    for form in ("short", "medium", "long", "full"):
        for _ in range(4):
            day = date(1970, 1, 1) + timedelta(days=random.randrange(33_000))
            text = format_date(day, form, locale=babel_name(name))
            results = [clean_date(text, locale), clean_date(text)]
            assert {result.value for result in results} <= {day, None}, text
            assert form != "long" or name in UNREAD_DAYS or results[0].value == day, text
