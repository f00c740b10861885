"""Makes all workers see the same: reports go to the store at once, news come every half second.

Reports are kept until the store has them, however long it is away; as an egress is not used while
a report of it waits, there are few. The store also says who may try an egress whose cool-down is
over, and the frontier is told which egress to keep from which host.
"""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, Protocol

from skitter.frontier.egresses import CooldownRules, Standing, Strike
from skitter.policies.proxies.health import GRANT_S, Health

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from skitter.settings import ProxySettings

POLL_S = 0.5
MOST_WAITING = 10_000
BATCH = 500
GRANT_MS = int(GRANT_S * 1000)


class EgressStore(Protocol):
    """What all workers share about egresses: `frontier.egresses`."""

    async def strike(self, strikes: Sequence[Strike], *, rules: CooldownRules) -> list[Standing]:
        """Note what egresses did, each once; how they stand after that, in the same order."""

    async def news(self, since: int) -> tuple[int, list[Standing]]:
        """The version now, and all that stands otherwise than at a version; 0 is the beginning."""

    async def try_again(self, egresses: Sequence[str], *, trial_ms: int) -> list[str]:
        """Those that this worker alone may try, for so long, now that their cool-down is over."""

    async def bar(self, host: str, egress: str, ms: int) -> int:
        """Let no lease come for this pair for so long; for how long it is so."""

    async def retire(self, egresses: Iterable[str]) -> None:
        """No host waits for these any more."""


class Sharing:
    """What waits to be told to the store, and what it told us last."""

    def __init__(self, store: EgressStore, health: Health, settings: ProxySettings) -> None:
        self._store = store
        self._health = health
        self._rules = CooldownRules(
            fails=settings.fails_before_cooldown,
            cooldown_ms=int(settings.cooldown_s * 1000),
            most_ms=int(settings.max_cooldown_s * 1000),
        )
        self._bars_bans = settings.rotation == "spread"
        self._reports: deque[Strike] = deque()
        self._bars: dict[tuple[str, str], int] = {}
        self._leaving: set[str] = set()
        self._version = 0
        self._news = asyncio.Event()
        self._exchanging = asyncio.Lock()

    def report(self, egress: str, host: str = "", *, fine: bool) -> None:
        """What came of a request; the store hears of it unless it changes nothing."""
        full = len(self._reports) >= MOST_WAITING
        if not full and self._health.note(egress, host, fine=fine):
            self._reports.append(Strike(egress, host, fine))
            self._news.set()

    def bar(self, host: str, egress: str, left_s: float) -> None:
        """Have the frontier keep this egress from this host."""
        if len(self._bars) < MOST_WAITING:
            self._bars[host, egress] = int(left_s * 1000) + 1
            self._news.set()

    async def woken(self) -> None:
        """Return when there is something to tell, or when it is time to ask."""
        with suppress(TimeoutError):
            async with asyncio.timeout(POLL_S):
                await self._news.wait()

    async def exchange(self, egresses: Iterable[str]) -> None:
        """Tell all that waits, hear what is new, and ask which of these egresses to try."""
        async with self._exchanging:
            self._news.clear()
            await self._tell()
            await self._hear(egresses)
            while self._bars:
                (host, egress), ms = self._bars.popitem()
                await self._store.bar(host, egress, ms)

    async def _hear(self, egresses: Iterable[str]) -> None:
        self._version, standings = await self._store.news(self._version)
        for standing in standings:
            self._health.learn(standing)
        due = self._health.due(egresses)
        for name in await self._store.try_again(due, trial_ms=GRANT_MS) if due else ():
            self._health.grant(name)

    async def retire(self, egresses: set[str]) -> None:
        """Twice each, for a lease that was asked for before may come in between."""
        await self._store.retire(self._leaving | egresses)
        self._leaving = egresses

    async def _tell(self) -> None:
        while self._reports:
            batch = list(islice(self._reports, BATCH))
            standings = await self._store.strike(batch, rules=self._rules)
            for standing in standings:
                self._reports.popleft()
                self._health.answered(standing)
                if standing.host and standing.left_ms and self._bars_bans:
                    self._bars[standing.host, standing.egress] = standing.left_ms
