"""The time of day in a text, and the zone that it is told in.

Abbreviations that several zones share (IST, CST, BST) are read only where the declared zone uses
them. A time that its zone's clocks showed twice, or skipped, is refused.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

from skitter.extract.cleaned import Doubt
from skitter.extract.locale import Locale

FIRST_YEAR, LAST_YEAR = 1900, 2100
# Which half of the day a word stands for; some languages put it first, some last.
_HALVES = {
    "a": "am a.m. a.m a. m. vorm. ص صباحا صباحًا π.μ. πμ sa öö 午前 上午 오전 早上 凌晨",
    "p": "pm p.m. p.m p. m. nachm. م مساء مساءً μ.μ. μμ ch ös 午後 下午 오후 晚上",
}
_HALF_OF = {word: half for half, words in _HALVES.items() for word in words.split()} | {
    "a. m.": "a",
    "p. m.": "p",
}
_BEFORE = "午前|上午|오전|早上|凌晨|午後|下午|오후|晚上|öö|ös"
_BEHIND = "|".join(re.escape(word) for word in sorted(_HALF_OF, key=len, reverse=True))
_HOUR = r"(?<![\d.,:+-])T?(?P<hour>\d{1,2})"
_TIME = re.compile(
    rf"(?:(?P<before>{_BEFORE})\s?)?{_HOUR}"
    r"(?:(?:[:.]|\s?h\s?)(?P<minute>[0-5]\d)(?:[:.](?P<second>[0-5]\d)(?:[.,](?P<fraction>\d{1,9}))?)?"
    r"|\s?[時时시点點](?:\s?(?P<cjk>\d{1,2})\s?[分분])?"
    rf"|(?=\s?(?:{_BEHIND})(?![^\W\d_]))|(?=\s?(?:Uhr|h)\b))(?!\d)"
    rf"(?:\s?(?P<behind>{_BEHIND})(?![^\W\d_]))?(?:\s?(?:Uhr|uur|hrs?|h|น\.)(?![^\W\d_]))?",
    re.IGNORECASE,
)
_COMPACT = re.compile(r"T(?P<hour>\d\d)(?P<minute>\d\d)(?P<second>\d\d)?(?=Z|[+-]|\s|$)")
_NEXT_WORD = re.compile(r"\s?([^\W\d_][^\s\d,;()]*)")
_OFFSET = re.compile(r"(?:\b(?:UTC|GMT)\s?)?([+-])(\d{1,2})(?::?([0-5]\d))?(?!\d)")
_NAMED = re.compile(r"(?<![A-Za-z])([A-Z]{1,5})(?![A-Za-z])")
_REGION = re.compile(
    r"(?<![A-Za-z])(?:Africa|America|Asia|Atlantic|Australia|Europe|Pacific)/[A-Za-z_/]+"
)
_HOURS = {
    "Z": 0, "UTC": 0, "GMT": 0, "WET": 0, "WEST": 1, "CET": 1, "MEZ": 1, "CEST": 2, "MESZ": 2,
    "EET": 2, "EEST": 3, "MSK": 3, "EST": -5, "EDT": -4, "CDT": -5, "MDT": -6, "PST": -8,
    "PDT": -7, "JST": 9, "KST": 9, "HKT": 8, "SGT": 8, "AEST": 10, "AEDT": 11, "AWST": 8,
    "NZST": 12, "NZDT": 13, "PKT": 5, "WIB": 7, "ICT": 7, "SAST": 2, "BRT": -3,
}  # fmt: skip
_REGIONS = {
    "ET": "America/New_York", "CT": "America/Chicago", "MT": "America/Denver",
    "PT": "America/Los_Angeles",
}  # fmt: skip
SHARED = frozenset(
    [
        "IST",
        "CST",
        "BST",
        "AST",
        "MST",
        "GST",
        "SST",
        "ADT",
        "ECT",
        "AMT",
        "ACT",
        "WST",
        "LST",
        "PYT",
        "CCT",
        "COT",
        "EDST",
    ]
)


def take_time(text: str) -> tuple[time | None, str, str]:
    """The time of day, the zone's name or offset, and what is left of the text."""
    match = _COMPACT.search(text) or _TIME.search(text)
    if match is None:
        return None, "", text
    clock = _clock(match)
    behind = text[match.end() :]
    left = f"{text[: match.start()]} {behind}"
    zone = _OFFSET.search(left) or _REGION.search(left) or _zone_name(left)
    if zone is None:
        _check_behind(match, behind)
        return clock, "", left
    return clock, zone.group().strip(), f"{left[: zone.start()]} {left[zone.end() :]}"


def _check_behind(match: re.Match[str], behind: str) -> None:
    """A word that follows the time may say which half of the day it is in."""
    word = _NEXT_WORD.match(behind)
    if word and 1 <= int(match["hour"]) <= 12 and not _half(match):
        raise Doubt(f"{word[1]!r} behind the time is not understood")


def _zone_name(text: str) -> re.Match[str] | None:
    known = (match for match in _NAMED.finditer(text) if is_zone_name(match.group()))
    return next(known, None)


def is_zone_name(word: str) -> bool:
    """Whether an abbreviation stands for a time zone."""
    return word in _HOURS or word in _REGIONS or word in SHARED


def _clock(match: re.Match[str]) -> time:
    parts = match.groupdict()
    minute = int(parts["minute"] or parts.get("cjk") or 0)
    fraction = int((parts.get("fraction") or "0").ljust(6, "0")[:6])
    clock = _time(int(parts["hour"]), minute, int(parts["second"] or 0), _half(match))
    return clock.replace(microsecond=fraction)


def _half(match: re.Match[str]) -> str:
    parts = match.groupdict()
    word = parts.get("before") or parts.get("behind") or ""
    return _HALF_OF.get(word.lower(), "")


def _time(hour: int, minute: int, second: int, half: str) -> time:
    if half:
        if not 0 <= hour <= 12:
            raise Doubt(f"there is no hour {hour} of half a day")
        hour = hour % 12 + (12 if half == "p" else 0)
    try:
        return time(hour, minute, second)
    except ValueError:
        raise Doubt(f"there is no time {hour}:{minute:02}:{second:02}") from None


def moment(day: date, clock: time, zone: str, locale: Locale) -> datetime:
    """A moment in UTC, from what the text says and, for the zone, the source declares."""
    local = datetime.combine(day, clock)
    if not zone and not locale.timezone:
        raise Doubt("it has a time but no time zone: declare the source's")
    return in_utc(local, _zone(zone, local, locale) if zone else ZoneInfo(locale.timezone))


def in_utc(local: datetime, zone: tzinfo) -> datetime:
    """A local time as a moment, if its zone's clocks showed it once."""
    first, second = (local.replace(tzinfo=zone, fold=fold) for fold in (0, 1))
    if first.utcoffset() != second.utcoffset():
        raise Doubt(f"the clocks of {zone} showed {local:%H:%M} twice or not at all on that day")
    return first.astimezone(UTC)


def _zone(name: str, local: datetime, locale: Locale) -> tzinfo:
    if "/" in name:
        return _region(name)
    offset = _OFFSET.fullmatch(name)
    if offset:
        sign, hours, minutes = offset.groups()
        return _fixed(int(f"{sign}{hours}"), int(f"{sign}{minutes or 0}"))
    if locale.timezone and local.replace(tzinfo=ZoneInfo(locale.timezone)).tzname() == name:
        return ZoneInfo(locale.timezone)
    if name in SHARED:
        raise Doubt(f"several time zones are called {name}: declare the source's")
    return ZoneInfo(_REGIONS[name]) if name in _REGIONS else _fixed(_HOURS[name], 0)


def _region(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise Doubt(f"there is no time zone {name}") from None


def _fixed(hours: int, minutes: int) -> timezone:
    if abs(hours) > 14:
        raise Doubt(f"no time zone is {hours} hours from UTC")
    return timezone(timedelta(hours=hours, minutes=minutes))


def day_of(year: int, month: int, day: int) -> date:
    """A day of our calendar and our age; others count their years otherwise."""
    if not FIRST_YEAR <= year <= LAST_YEAR:
        raise Doubt(f"the year {year} is not between {FIRST_YEAR} and {LAST_YEAR}")
    try:
        return date(year, month, day)
    except ValueError:
        raise Doubt(f"there is no day {year}-{month:02}-{day:02}") from None
