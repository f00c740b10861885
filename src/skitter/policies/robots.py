"""robots.txt: read once for all workers, obeyed until it is stale, waited for where it fails.

The text is kept by the frontier; each process keeps what it parsed, within bounds. A site that has
none (4xx) allows everything. One that cannot say (5xx, 429, no connection) is not asked for
anything else: its queue is held, longer at each failure, and after some of them its requests are
to be buried, so that a dead host does not keep a job open for ever (RFC 9309, 2.3.1).
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urljoin
from weakref import WeakValueDictionary

from protego import Protego

from skitter.frontier.lease import boot_ms
from skitter.frontier.urls import parse
from skitter.policies.robots_rules import Known, Memory, RobotsAnswer, Rules, origin_of
from skitter.settings import RobotsSettings

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from skitter.frontier import Frontier
    from skitter.frontier.robots import RobotsText

    Fetch = Callable[[str], Awaitable[RobotsAnswer | None]]

__all__ = ["Robots", "RobotsAnswer", "Rules", "Trouble", "origin_of"]

MAX_HOPS = 5
CLAIM_MS = 30_000
POLL_S = 0.1
LONG_TEXT = 64 << 10
_REDIRECTS = (301, 302, 303, 307, 308)


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why there are no rules: so many failures in a row, to be tried again after wait_ms.

    given_up: a request in hand is to be buried rather than handed back.
    """

    failures: int
    wait_ms: int
    given_up: bool


class Robots:
    """One process's robots.txt. agent is the name that rules are looked up for, unless said."""

    def __init__(
        self,
        frontier: Frontier,
        *,
        agent: str,
        settings: RobotsSettings | None = None,
        clock: Callable[[], float] = boot_ms,
    ) -> None:
        self._frontier = frontier
        self._texts = frontier.robots
        self._agent = agent
        self._settings = settings or RobotsSettings()
        self._clock = clock
        self._memory = Memory()
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def rules(self, origin: str, *, fetch: Fetch, agent: str = "") -> Rules | None:
        """What the origin allows; None: nothing may be asked of it now, see `trouble`.

        fetch is called only if no worker knows, once for each hop: it keeps the pace of the URL's
        host, in the turn at hand or with a permit, and gives None if nothing could be sent.
        """
        agent = agent or self._agent
        known = self._memory.get(origin, self._clock())
        if known is None:
            lock = self._locks.setdefault(origin, asyncio.Lock())
            async with lock:
                known = self._memory.get(origin, self._clock())
                known = known or await self._learn(origin, fetch, agent)
        if known is None:
            return None
        if known.failures:
            await self._wait(origin, known)
            return None
        return self._rules_of(known, agent)

    def known(self, origin: str, *, agent: str = "") -> Rules | None:
        """The rules, if this process has them at hand: without waiting for anything."""
        known = self._memory.get(origin, self._clock())
        if known is None or known.failures:
            return None
        return self._rules_of(known, agent or self._agent)

    def trouble(self, origin: str) -> Trouble | None:
        """Why `rules` gave None; None here too if nothing could be sent, so nothing is known."""
        known = self._memory.get(origin, self._clock())
        if known is None or not known.failures:
            return None
        return Trouble(known.failures, self._left_ms(known), self._given_up(known))

    async def _wait(self, origin: str, known: Known) -> None:
        """The host's queue is not leased meanwhile, or it would be handed back at once."""
        if not self._given_up(known):
            await self._texts.hold(_host(origin), self._left_ms(known))

    def _given_up(self, known: Known) -> bool:
        return known.failures >= self._settings.max_attempts

    def _left_ms(self, known: Known) -> int:
        return max(1, int(known.until_ms - self._clock()))

    def _rules_of(self, known: Known, agent: str) -> Rules:
        return known.rules(agent, max_delay_ms=self._frontier.config.max_delay_ms)

    async def _learn(self, origin: str, fetch: Fetch, agent: str) -> Known | None:
        found = await self._look(origin)
        if found.fresh_ms:
            return await self._take(origin, found, agent)
        answer = None
        try:
            answer = await _ask(origin, fetch)
        finally:
            if answer is None:
                await self._texts.unclaim(_host(origin), origin)
        if answer is None:
            return None
        if answer.says_nothing:
            return await self._fail(origin, answer, failures=found.failures + 1)
        return await self._accept(origin, answer, agent)

    async def _look(self, origin: str) -> RobotsText:
        """What the frontier has. While another worker fetches it, its answer is waited for."""
        found = await self._texts.get(_host(origin), origin, claim_ms=CLAIM_MS)
        for _ in range(int(CLAIM_MS / 1000 / POLL_S)):
            if not found.busy_ms:
                break
            await asyncio.sleep(POLL_S)
            found = await self._texts.get(_host(origin), origin, claim_ms=CLAIM_MS)
        return found

    async def _fail(self, origin: str, answer: RobotsAnswer, *, failures: int) -> Known:
        settings = self._settings
        wait_s = settings.retry_s * 2.0 ** min(failures - 1, 30)
        wait_ms = int(min(settings.max_retry_s * 1000, max(wait_s * 1000, answer.retry_after_ms)))
        await self._texts.fail(_host(origin), origin, failures=failures, wait_ms=wait_ms)
        return self._memory.put(origin, Known(self._clock() + wait_ms, failures=failures))

    async def _accept(self, origin: str, answer: RobotsAnswer, agent: str) -> Known:
        there = answer.status < 300
        text = answer.text(self._settings.max_bytes)
        ttl_s = self._settings.ttl_s if there else self._settings.missing_ttl_s
        known = await _parse(text, until_ms=self._clock() + ttl_s * 1000)
        await self._publish(origin, known, text, agent)
        return self._memory.put(origin, known)

    async def _take(self, origin: str, found: RobotsText, agent: str) -> Known:
        """Another worker had read it; this one's agent may have to go slower than that one's."""
        until_ms = self._clock() + found.fresh_ms
        if found.failures:
            return self._memory.put(origin, Known(until_ms, failures=found.failures))
        known = await _parse(found.text, until_ms=until_ms)
        if self._rules_of(known, agent).delay_ms > found.delay_ms:
            await self._publish(origin, known, found.text, agent)
        return self._memory.put(origin, known)

    async def _publish(self, origin: str, known: Known, text: str, agent: str) -> None:
        await self._texts.put(
            _host(origin),
            origin,
            text,
            fresh_ms=self._left_ms(known),
            delay_ms=self._rules_of(known, agent).delay_ms,
        )


async def _ask(origin: str, fetch: Fetch) -> RobotsAnswer | None:
    """Redirects are followed, to any host; too many of them are no robots.txt (RFC 9309)."""
    url = f"{origin}/robots.txt"
    for _ in range(MAX_HOPS + 1):
        answer = await fetch(url)
        if answer is None or answer.status not in _REDIRECTS or not answer.location:
            return answer
        try:
            url = urljoin(url, answer.location)
        except ValueError:
            break
        if not url.startswith(("http://", "https://")):
            break
    return RobotsAnswer(404)


async def _parse(text: str, *, until_ms: float) -> Known:
    if not text:
        return Known(until_ms)
    if len(text) < LONG_TEXT:
        return Known(until_ms, parser=Protego.parse(text), chars=len(text))
    # It takes long enough to keep others waiting.
    parser = await asyncio.to_thread(Protego.parse, text)
    return Known(until_ms, parser=parser, chars=len(text))


def _host(origin: str) -> str:
    return parse(origin).host
