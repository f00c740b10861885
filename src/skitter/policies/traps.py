"""Which links lead into an endless site, by their looks.

Asked once for each discovered link, so ordinary URLs pass after a few counts. The bounds are wide:
they are there to end what has no end, and not to tell good pages from bad. Pages of one shape that
follow each other ever deeper (a calendar, a search that links to itself) are ended by how deep they
went since this process first met that shape; that is looked at only far from the seeds.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from datetime import UTC, datetime

from skitter.settings import TrapSettings

KEPT_SHAPES = 10_000
_NUMBER = re.compile(r"\d+")
_ENDS = re.compile(r"[?#]")


class TrapRules:
    """The rules, and the shapes that were met far from the seeds."""

    def __init__(self, settings: TrapSettings | None = None, *, year: int | None = None) -> None:
        settings = settings or TrapSettings()
        self._max_chars = settings.max_url_chars
        self._max_segments = settings.max_segments
        self._max_params = settings.max_params
        self._max_repeats = settings.max_repeats
        self._max_depth = settings.max_depth if settings.max_depth is not None else 1 << 31
        self._max_run = settings.max_run or 1 << 31
        # A URL with fewer slashes than this cannot repeat itself often enough.
        self._slashes = 3 + settings.max_repeats
        self._future = _years_after((year or datetime.now(UTC).year) + settings.future_years)
        self._shapes: OrderedDict[str, int] = OrderedDict()

    def refuses(self, url: str, depth: int) -> str:
        """Why a link at this depth is not to be followed, or an empty text."""
        if len(url) > self._max_chars:
            return "trap: long URL"
        if depth > self._max_depth:
            return "trap: depth"
        if url.count("&") >= self._max_params and "?" in url:
            return "trap: many parameters"
        if url.count("/") >= self._slashes and (reason := self._path(url)):
            return reason
        if self._future.search(url):
            return "trap: far future"
        return self._run(url, depth) if depth > self._max_run else ""

    def _path(self, url: str) -> str:
        parts = url.split("/")
        # A repetition has as many that were there before, at least; most URLs have none.
        if len(parts) - len(set(parts)) < self._max_repeats and len(parts) <= self._max_segments:
            return ""
        segments = _ENDS.split(url, maxsplit=1)[0].split("/")[3:]
        if len(segments) > self._max_segments:
            return "trap: deep path"
        return "trap: repeating path" if repeats(segments, self._max_repeats) else ""

    def _run(self, url: str, depth: int) -> str:
        """How deep a shape goes, counted from the least depth where it was met."""
        shape = _NUMBER.sub("#", url)
        first = min(self._shapes.pop(shape, depth), depth)
        self._shapes[shape] = first
        if len(self._shapes) > KEPT_SHAPES:
            self._shapes.popitem(last=False)
        return "trap: endless sequence" if depth - first > self._max_run else ""


def repeats(segments: list[str], most: int) -> bool:
    """Whether a group of segments stands so many times in a row; one alone, once more than that.

    Numbers and empty segments may repeat: /2001/01/01/01 is an hour.
    """
    for size in range(1, len(segments) // most + 1):
        wanted = size * (most - 1) if size > 1 else most
        run = 0
        for i in range(size, len(segments)):
            same = segments[i] == segments[i - size]
            run = run + 1 if same else 0
            if run >= wanted and not _numeric(segments[i - size + 1 : i + 1]):
                return True
    return False


def _numeric(segments: list[str]) -> bool:
    return all(not segment or segment.isdigit() for segment in segments)


def _years_after(year: int) -> re.Pattern[str]:
    """A year with a month, in a path or a query, that lies after this one and before 2400."""
    decade, unit = divmod(min(max(year, 2000), 2098), 10)
    years = f"0{decade % 10}[{unit + 1}-9]|" if unit < 9 else ""
    years += f"0[{decade % 10 + 1}-9][0-9]|" if decade % 10 < 9 else ""
    years += "[1-3][0-9][0-9]"
    month, day, end = "(?:0?[1-9]|1[0-2])", "(?:0?[1-9]|[12][0-9]|3[01])", "(?=[/?#&]|$)"
    # It begins with a plain character, for which the search is fast.
    return re.compile(rf"2(?<=[/=]2)(?:{years})(?:([/-]){month}(?:\1{day})?{end}|&month=)")
