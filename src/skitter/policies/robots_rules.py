"""What one robots.txt says, and what a process remembers of many.

Pure: no clock, no server. protego reads the text; a user agent is matched as it does, by the
product token at a word's beginning, the longest first.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field

from protego import Protego

KEPT_ORIGINS = 10_000
KEPT_CHARS = 16 << 20
KEPT_AGENTS = 16
_TOO_MANY_REQUESTS = 429


@dataclass(frozen=True, slots=True)
class RobotsAnswer:
    """One answer to a request for a robots.txt; status 0: there was none.

    Of the body, no more than `robots.max_bytes` need be read. location is that of a redirect.
    """

    status: int
    body: bytes = b""
    location: str = ""
    retry_after_ms: float = 0.0

    @property
    def says_nothing(self) -> bool:
        """No answer, or one that tells nothing of what the site allows. 429 asks for patience."""
        return not 200 <= self.status < 500 or self.status == _TOO_MANY_REQUESTS

    def text(self, max_bytes: int) -> str:
        """The rules, up to the last whole line: half a rule may forbid more than the whole one."""
        if not 200 <= self.status < 300:
            return ""
        body = self.body
        if len(body) > max_bytes:
            kept = body[:max_bytes]
            body = kept[: max(kept.rfind(b"\n"), kept.rfind(b"\r")) + 1]
        return body.decode("utf-8-sig", "replace").replace("\0", "")


class Rules:
    """What an origin allows one user agent. delay_ms: its Crawl-delay, within bounds."""

    __slots__ = ("_agent", "_parser", "delay_ms")

    def __init__(self, parser: Protego | None, agent: str, *, max_delay_ms: int) -> None:
        self._parser = parser
        self._agent = agent
        self.delay_ms = min(max_delay_ms, _delay_ms(parser, agent)) if parser else 0

    def allows(self, url: str) -> bool:
        """Whether a URL of this origin may be fetched."""
        return self._parser is None or self._parser.can_fetch(url, self._agent)


@dataclass(slots=True)
class Known:
    """What a process knows of an origin, until then. After a failure there are no rules."""

    until_ms: float
    failures: int = 0
    parser: Protego | None = None
    chars: int = 0
    _rules: dict[str, Rules] = field(default_factory=dict)

    def rules(self, agent: str, *, max_delay_ms: int) -> Rules:
        """The rules for a user agent; few are asked for, and those are kept."""
        found = self._rules.get(agent)
        if found is None:
            if len(self._rules) >= KEPT_AGENTS:
                self._rules.clear()
            found = self._rules[agent] = Rules(self.parser, agent, max_delay_ms=max_delay_ms)
        return found


class Memory:
    """The origins used last, within bounds of their number and of the length of their texts."""

    def __init__(self, *, origins: int = KEPT_ORIGINS, chars: int = KEPT_CHARS) -> None:
        self._most_origins = origins
        self._most_chars = chars
        self._chars = 0
        self._known: OrderedDict[str, Known] = OrderedDict()

    def __len__(self) -> int:
        return len(self._known)

    def get(self, origin: str, now_ms: float) -> Known | None:
        """What is known and still holds."""
        known = self._known.get(origin)
        if known is None or known.until_ms <= now_ms:
            return None
        self._known.move_to_end(origin)
        return known

    def put(self, origin: str, known: Known) -> Known:
        """Keep it, in place of what was used longest ago."""
        before = self._known.pop(origin, None)
        self._chars += known.chars - (before.chars if before else 0)
        self._known[origin] = known
        while len(self._known) > self._most_origins or (
            self._chars > self._most_chars and len(self._known) > 1
        ):
            self._chars -= self._known.popitem(last=False)[1].chars
        return known


def origin_of(url: str) -> str:
    """The origin of a canonical URL: `https://example.com:8443/a?b` → `https://example.com:8443`."""
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{rest.partition('/')[0].partition('?')[0].partition('#')[0]}"


def _delay_ms(parser: Protego, agent: str) -> int:
    """What Crawl-delay and Request-rate ask for, whichever is slower."""
    delay_s = parser.crawl_delay(agent) or 0.0
    rate = parser.request_rate(agent)
    if rate and rate.start_time is None:
        delay_s = max(delay_s, rate.seconds / rate.requests)
    return int(min(delay_s, 1e9) * 1000)
