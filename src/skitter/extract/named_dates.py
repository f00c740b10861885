"""Dates with the names of months, in any language, and relative ones: by dateparser.

It is asked strictly (day, month and year must all be there), with the order, languages and zone
that the source declares, and its answer is taken only if it agrees with what can be seen in the
text: a year of four digits, a time where there is one. Zones are read by us, for it guesses.
"""

from __future__ import annotations

import re
from datetime import date, datetime
from functools import lru_cache
from typing import NamedTuple, Self
from zoneinfo import ZoneInfo

from dateparser.date import DateDataParser

from skitter.extract.cleaned import Doubt
from skitter.extract.clocks import day_of, in_utc, moment, take_time
from skitter.extract.locale import Locale
from skitter.extract.vocabulary import words

LONGEST = 80
_YEAR = re.compile(r"(?<!\d)(\d{4})(?!\d)")
# October for Croats is November for Poles and Czechs, and so on.
_SHARED = re.compile(r"(?i)\b(?:listopad[au]?|lis|lip|srp)\b")
_THAI = re.compile(r"[\u0e00-\u0e7f]")
_BUDDHIST = 543
_KEPT = 4096
# Where none is declared. Each more makes every refusal dearer, and few pages need it.
_LANGUAGES = [
    "en",
    "fr",
    "de",
    "es",
    "it",
    "pt",
    "nl",
    "ru",
    "ar",
    "zh",
    "ja",
    "ko",
    "tr",
    "pl",
    "uk",
    "cs",
    "sk",
    "hu",
    "ro",
    "bg",
    "el",
    "he",
    "fa",
    "hi",
    "bn",
    "th",
    "vi",
    "id",
    "ms",
    "sv",
    "da",
    "nb",
    "fi",
    "et",
    "lv",
    "lt",
    "sl",
    "hr",
    "sr",
    "ca",
    "eu",
    "gl",
]


def read_named(text: str, locale: Locale, *, now: datetime | None) -> date | datetime:
    """The date or moment that a text names; raises Doubt."""
    if len(text) > LONGEST:
        raise Doubt(f"a date has no more than {LONGEST} characters")
    if not _YEAR.search(text):
        return _relative(text, locale, now)
    clock, zone, rest = take_time(text)
    shared = _SHARED.search(rest)
    if shared and not locale.languages:
        raise Doubt(f"{shared.group()} is one month or another: declare the locale")
    day = _day(_in_plain_thai(rest, locale), locale)
    return day if clock is None else moment(day, clock, zone, locale)


def _in_plain_thai(text: str, locale: Locale) -> str:
    """Thai months in full, and years of the common era; any other text as it is."""
    if not _THAI.search(text):
        return text
    known = words("dates")
    is_buddhist = known["thai_buddhist_era"] in text or "th" in locale.languages
    for era in ("thai_buddhist_era", "thai_common_era"):
        text = text.replace(known[era], " ")
    for short, month in known["thai_months"].items():
        text = re.sub(rf"(?<![\u0e00-\u0e7f]){re.escape(short)}", month, text)
    text = re.sub(known["thai_day"], " ", text)
    if not is_buddhist:
        return text
    return _YEAR.sub(lambda year: _common_era(year.group()), text)


def _common_era(year: str) -> str:
    return str(int(year) - _BUDDHIST) if int(year) > 2400 else year


def _day(text: str, locale: Locale) -> date:
    found = None
    if _has_parts(text):
        found = _absolute(text.strip(" ,;.-"), _Asked.of(locale))
    if found is None or str(found.year) not in text:
        raise Doubt("no day, month and year can be read from it")
    return day_of(found.year, found.month, found.day)


def _has_parts(text: str) -> bool:
    """Whether there is a day and a year, a word for the month, and nothing more.

    dateparser takes the first day of `3-5 May` and the first month of `1 2 2024`. In Vietnamese
    the month is a word and a number.
    """
    numbers = re.findall(r"\d+", text)
    most = 3 if "th\u00e1ng" in text.lower() else 2
    return len(numbers) == most and any(char.isalpha() for char in text)


class _Asked(NamedTuple):
    """What of a locale dateparser is told."""

    languages: tuple[str, ...]
    country: str
    order: str

    @classmethod
    def of(cls, locale: Locale) -> Self:
        return cls(locale.languages, locale.country, locale.date_order)


@lru_cache(maxsize=_KEPT)
def _absolute(text: str, asked: _Asked) -> datetime | None:
    """Pages of one site name the same days again and again, hence the cache."""
    return _parser(asked).get_date_data(text).date_obj


@lru_cache(maxsize=64)
def _parser(asked: _Asked) -> DateDataParser:
    order = {"DATE_ORDER": asked.order} if asked.order else {}
    return DateDataParser(
        languages=list(asked.languages) or _LANGUAGES,
        region=asked.country or None,
        settings={"STRICT_PARSING": True, "PARSERS": ["absolute-time"], **order},
    )


def _relative(text: str, locale: Locale, now: datetime | None) -> datetime:
    if now is None:
        raise Doubt("it names no year; a relative date needs to know what now is")
    zone = ZoneInfo(locale.timezone or "UTC")
    parser = DateDataParser(
        languages=list(locale.languages) or _LANGUAGES,
        settings={
            "PARSERS": ["relative-time"],
            "RELATIVE_BASE": now.astimezone(zone).replace(tzinfo=None),
        },
    )
    found = parser.get_date_data(text).date_obj
    if found is None:
        raise Doubt("it names no year, and is not relative to now")
    return in_utc(found.replace(tzinfo=None), zone)
