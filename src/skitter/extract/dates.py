"""Dates: a `date`, or a moment in UTC where a time of day is given.

ISO forms, numeric dates and CJK dates are read here, strictly: `02/05/2019` needs a declared order,
a time needs a zone, in the text or declared. Month names in any language, and relative dates where
the caller says what now is, are dateparser's, in its strict mode.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime

from skitter.extract.characters import plain
from skitter.extract.cleaned import Doubt, refusing
from skitter.extract.clocks import FIRST_YEAR, LAST_YEAR, day_of, moment, take_time
from skitter.extract.locale import UNDECLARED, Locale

_ISO = re.compile(r"(?<!\d)(\d{4})-(\d\d)-(\d\d)(?=$|[T\s,(])")
_COMPACT = re.compile(r"(\d{4})(\d\d)(\d\d)(?=$|T\d)")
_YEAR_FIRST = re.compile(r"(?<!\d)(\d{4})\s?[./-]\s?(\d{1,2})\s?[./-]\s?(\d{1,2})(?!\d)\.?")
_YEAR_LAST = re.compile(r"(?<!\d)(\d{1,2})\s?([./-])\s?(\d{1,2})\s?[./-]\s?(\d{4}|\d{2})(?!\d)\.?")
_CJK = re.compile(
    r"(令和|平成|昭和|民國|民国)?\s?(\d{1,4}|元)\s?[年년]\s?(\d{1,2})\s?[月월]\s?(\d{1,2})\s?[日일号號]"
)
_ERAS = {"令和": 2018, "平成": 1988, "昭和": 1925, "民國": 1911, "民国": 1911}
_LABEL = re.compile(r"[^\d:]{1,40}:\s*")
_WORDS_BESIDE = re.compile(r"[^\W\d_]+")
_MOST_WORDS = 4


@refusing
def clean_date(
    raw: str, locale: Locale = UNDECLARED, *, now: datetime | None = None
) -> date | datetime:
    """A date, or an aware datetime in UTC. now allows relative dates (`2 hours ago`)."""
    text = plain(raw)
    label = _LABEL.match(text)
    text = text[label.end() :] if label else text
    found = _numeric(text, locale)
    if found is None:
        from skitter.extract.named_dates import read_named  # noqa: PLC0415 - it loads dateparser

        return read_named(text, locale, now=now)
    day, rest = found
    clock, zone, left = take_time(rest)
    if re.search(r"\d", left) or len(_WORDS_BESIDE.findall(left)) > _MOST_WORDS:
        raise Doubt(f"{left.strip()!r} beside the date is not understood")
    return day if clock is None else moment(day, clock, zone, locale)


@refusing
def clean_epoch(raw: str, *, unit_ms: bool = False) -> datetime:
    """A moment that is given as seconds, or milliseconds, since 1970."""
    text = plain(raw)
    if not re.fullmatch(r"\d{1,16}(?:\.\d{1,9})?", text):
        raise Doubt("it is not a number of seconds")
    seconds = float(text) / (1000 if unit_ms else 1)
    try:
        found = datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        found = None
    if found is None or not FIRST_YEAR <= found.year <= LAST_YEAR:
        raise Doubt("it is no moment of this age: are its units right?")
    return found


def _numeric(text: str, locale: Locale) -> tuple[date, str] | None:
    """A date that is all numbers, and the text without it."""
    for pattern in (_ISO, _COMPACT, _YEAR_FIRST):
        match = pattern.match(text) if pattern is _COMPACT else pattern.search(text)
        if match:
            year, month, day = match.groups()
            return day_of(int(year), int(month), int(day)), _without(text, match)
    match = _CJK.search(text)
    if match:
        era, year, month, day = match.groups()
        number = 1 if year == "元" else int(year)
        return day_of(_ERAS.get(era, 0) + number, int(month), int(day)), _without(text, match)
    match = _YEAR_LAST.search(text)
    return (_ordered(match, locale), _without(text, match)) if match else None


def _without(text: str, match: re.Match[str]) -> str:
    return f"{text[: match.start()]} {text[match.end() :]}"


def _ordered(match: re.Match[str], locale: Locale) -> date:
    """A date whose year stands last: which comes first, day or month?"""
    first, _, second, year_text = match.groups()
    one, two, year = int(first), int(second), int(year_text)
    if len(year_text) == 2:
        if not locale.date_order or locale.date_order == "YMD":
            raise Doubt(f"{match.group()} has a year of two digits: declare the order of dates")
        year += 2000 if year < 69 else 1900  # POSIX
    if locale.date_order == "DMY":
        return day_of(year, two, one)
    if locale.date_order == "MDY":
        return day_of(year, one, two)
    if one == two or max(one, two) > 12:
        return day_of(year, min(one, two), max(one, two))
    raise Doubt(f"{match.group()} may begin with the day or the month: declare the order of dates")
