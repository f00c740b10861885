"""Whose fault an answer is: the proxy's, the proxy's at this host, or the site's.

What is certain counts at once: the connection to the proxy failed, or it asks for a password. The
rest is in doubt: a timeout may be the site's, a 403 may be what the page always says. Doubt ends
with the site: after so many failures in a row at a host, through whatever proxies, the site is
down; after so many moves of one request, its answer is the answer.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from skitter.settings import ProxySettings

PROXY_WORDS = ("proxy", "connect", "dns")
MOST_COUNTS = 10_000


@dataclass(frozen=True, slots=True)
class Fault:
    """Something to hold against a proxy: everywhere, or at the host that answered."""

    scope: Literal["proxy", "host"]
    reason: str
    certain: bool = False


class Bans:
    """Reads faults out of answers, by the settings."""

    def __init__(self, settings: ProxySettings) -> None:
        self._statuses = frozenset(settings.ban_statuses)
        self._bytes = int(settings.ban_body_bytes)
        self._patterns = [
            re.compile(text.encode(), re.IGNORECASE) for text in settings.ban_patterns
        ]

    def fault(self, status: int, error: str, body_prefix: bytes) -> Fault | None:
        """What an answer, or the lack of one, says against the proxy."""
        if status == 407:
            return Fault("proxy", "http 407", certain=True)
        if not status:
            word = error.partition(":")[0].strip().lower()
            return Fault("proxy", word or "no answer", certain=word in PROXY_WORDS)
        if status in self._statuses:
            return Fault("host", f"http {status}")
        seen = body_prefix[: self._bytes]
        found = next((pattern for pattern in self._patterns if pattern.search(seen)), None)
        return Fault("host", f"body {found.pattern.decode()!r}") if found else None


class Counts:
    """Counts by key; those longest untouched are forgotten when there are too many."""

    def __init__(self, most: int = MOST_COUNTS) -> None:
        self._most = most
        self._counts: OrderedDict[str, int] = OrderedDict()

    def add(self, key: str) -> int:
        """One more; how many that makes."""
        count = self._counts.pop(key, 0) + 1
        self._counts[key] = count
        if len(self._counts) > self._most:
            self._counts.popitem(last=False)
        return count

    def clear(self, key: str) -> None:
        self._counts.pop(key, None)
