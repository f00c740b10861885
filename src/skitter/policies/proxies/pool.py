"""The pool: which egresses a worker may use now, and what it makes of what came back.

An engine asks four things. Before a lease: `egresses`. Right before a request is sent: `claim`,
which names the egress to send through, or says to release the lease. For the URL: `url_of`. When
the request is over: `report`, whose verdict says whether to try through another egress.
With sticky rotation leases carry one common egress, so a host has one clock, and its proxy is
chosen when it is claimed.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Self

import structlog

from skitter.errors import BadProxies, FrontierError, UnknownEgress
from skitter.policies.proxies.bans import Bans, Counts, Fault
from skitter.policies.proxies.health import Health, State
from skitter.policies.proxies.rotation import Ranking
from skitter.policies.proxies.sharing import EgressStore, Sharing
from skitter.policies.proxies.source import Proxy, ProxySource

if TYPE_CHECKING:
    from collections.abc import Callable

    from skitter.settings import ProxySettings

log = structlog.get_logger(__name__)

DIRECT = "direct"
STICKY = "sticky"
MOST_AT_ONCE = 50
_TIDY_S = 60.0
_CLOSE_S = 1.0


@dataclass(frozen=True, slots=True)
class Verdict:
    """What an answer says of its egress: ok, banned by the host, or broken.

    retry: hand the request back, for it should go through another egress, and nothing of this
    counts against the site. Otherwise the answer is the site's, whatever the kind.
    """

    kind: Literal["ok", "banned", "broken"] = "ok"
    retry: bool = False
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ProxyRow:
    """A proxy for tables. sent, failed and banned are this worker's own counts."""

    egress: str
    proxy: str
    state: State
    fails: int
    cooldowns: int
    left_s: float
    sent: int
    failed: int
    banned: int
    banned_hosts: int


class ProxyPool:
    """All proxies of a worker; without any in the settings, everything goes directly."""

    def __init__(
        self,
        settings: ProxySettings,
        store: EgressStore,
        *,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settings = settings
        self._source = ProxySource(settings.urls, settings.files)
        self._bans = Bans(settings)
        self._health = Health(trial_s=settings.trial_s, now=now)
        self._sharing = Sharing(store, self._health, settings)
        self._proxies: dict[str, Proxy] = {}
        self._ranking = Ranking(())
        self._moves, self._runs = Counts(), Counts()
        self._tally: Counter[tuple[str, str]] = Counter()
        self._offered: set[str] = set()
        self._tidied_at = time.monotonic()
        self._loop: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Read the proxies, learn how they stand, and keep at it until `close`."""
        if self._source.wanted:
            self._use(await asyncio.to_thread(self._source.read))
            await self._sharing.exchange(self._proxies)
            self._loop = asyncio.create_task(self._run())

    async def close(self) -> None:
        """Tell the others what they have not heard yet, and end."""
        if self._loop is None:
            return
        self._loop.cancel()
        with suppress(asyncio.CancelledError):
            await self._loop
        self._loop = None
        with suppress(FrontierError, TimeoutError):
            async with asyncio.timeout(_CLOSE_S):
                await self._sharing.exchange(())

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def egresses(self) -> list[str]:
        """The egresses to lease for now; none when all proxies are out and direct is not allowed.

        Of very many proxies a part at a time, drawn anew at each call.
        """
        names = self._usable_now()
        if len(names) > 1:
            names = random.sample(names, min(len(names), MOST_AT_ONCE))
        self._offered.update(names)
        return names

    def usable(self, egress: str, host: str) -> bool:
        """Whether a lease for this egress and host may be kept; if not, release it."""
        usable = self._choose(egress, host) is not None
        if not usable:
            self._keep_apart(egress, host)
        return usable

    def claim(self, egress: str, host: str) -> str | None:
        """The egress to send this request through now, and to report on; None: release the lease.

        Asked once for each request, last of all before it is sent: of an egress that is being
        tried, the first one to ask has the trial.
        """
        name = self._choose(egress, host)
        if name is None:
            self._keep_apart(egress, host)
            return None
        self._health.begin(name)
        self._health.begin(name, host)
        return name

    def url_of(self, egress: str) -> str | None:
        """The proxy's URL with its credentials, never to be logged; None: no proxy."""
        if egress == DIRECT:
            return None
        try:
            return self._proxies[egress].url
        except KeyError:
            raise UnknownEgress(egress=egress) from None

    def report(
        self,
        egress: str,
        host: str,
        *,
        status: int = 0,
        error: str = "",
        body_prefix: bytes = b"",
        url: str = "",
    ) -> Verdict:
        """Judge an answer: a status with the body's beginning, or the error in place of one.

        An error that begins with `proxy`, `connect` or `dns` is the proxy's for certain. The url
        bounds how often one request moves; without it all requests of a host are one.
        """
        if egress not in self._proxies:
            return Verdict()
        self._tally[egress, "sent"] += 1
        fault = self._bans.fault(status, error, body_prefix)
        if status and status != 407:
            self._runs.clear(host)
        if fault is None:
            self._moves.clear(url or host)
            self._sharing.report(egress, fine=True)
            self._sharing.report(egress, host, fine=True)
            return Verdict()
        return self._hold_against(egress, host, fault, key=url or host)

    def snapshot(self) -> list[ProxyRow]:
        """All proxies and how they stand, in the order of the settings."""
        banned = Counter(egress for egress, _ in self._health.bans())
        return [self._row(proxy, banned[proxy.name]) for proxy in self._proxies.values()]

    async def step(self) -> None:
        """One round of the loop: files, reports, news, trials, bars."""
        await self._reread()
        await self._sharing.exchange(self._proxies)
        gone = self._offered - set(self._usable_now())
        self._offered -= gone
        await self._sharing.retire(gone)
        if time.monotonic() > self._tidied_at + _TIDY_S:
            self._tidied_at = time.monotonic()
            self._health.forget_old()

    def _usable_now(self) -> list[str]:
        if not self._source.wanted:
            return [DIRECT]
        sound = [name for name in self._proxies if self._health.sound(name)]
        if not sound:
            return [DIRECT] if self._settings.direct else []
        return [STICKY] if self._settings.rotation == STICKY else sound

    def _choose(self, egress: str, host: str) -> str | None:
        if egress == DIRECT:
            return DIRECT if self._settings.direct or not self._source.wanted else None
        names = self._ranking.of(host) if egress == STICKY else [egress]
        return next((name for name in names if self._sound(name, host)), None)

    def _sound(self, name: str, host: str) -> bool:
        return name in self._proxies and self._health.sound(name) and self._health.sound(name, host)

    def _keep_apart(self, egress: str, host: str) -> None:
        """A lease came for a pair that is banned: its bar has run out, or was never set."""
        names = self._ranking.of(host) if egress == STICKY else [egress]
        left_s = min((self._health.left_s(name, host) for name in names), default=0.0)
        if left_s > 0:
            self._sharing.bar(host, egress, left_s)

    def _hold_against(self, egress: str, host: str, fault: Fault, *, key: str) -> Verdict:
        in_doubt = fault.scope == "proxy" and not fault.certain
        if in_doubt and self._runs.add(host) > self._settings.fails_before_cooldown:
            self._health.undecided(egress)
            return Verdict(reason=fault.reason)
        retry = fault.certain or self._moves.add(key) <= self._settings.max_moves
        if fault.scope == "proxy":
            self._tally[egress, "failed"] += 1
            self._sharing.report(egress, fine=False)
            return Verdict("broken", retry, fault.reason)
        # It was the proxy that brought the host's refusal: as a whole it works.
        self._tally[egress, "banned"] += 1
        self._sharing.report(egress, fine=True)
        self._sharing.report(egress, host, fine=False)
        return Verdict("banned", retry, fault.reason)

    def _row(self, proxy: Proxy, banned_hosts: int) -> ProxyRow:
        name, view = proxy.name, self._health.view(proxy.name)
        return ProxyRow(
            egress=name,
            proxy=proxy.shown,
            state=self._health.state(name),
            fails=view.fails,
            cooldowns=view.level,
            left_s=self._health.left_s(name),
            sent=self._tally[name, "sent"],
            failed=self._tally[name, "failed"],
            banned=self._tally[name, "banned"],
            banned_hosts=banned_hosts,
        )

    def _use(self, proxies: dict[str, Proxy]) -> None:
        self._proxies = proxies
        self._ranking = Ranking(proxies)
        self._tally = Counter({key: n for key, n in self._tally.items() if key[0] in proxies})

    async def _reread(self) -> None:
        """A file that went bad changes nothing: to go on without its proxies may be worse."""
        if not self._settings.files or not await asyncio.to_thread(self._source.changed):
            return
        try:
            self._use(await asyncio.to_thread(self._source.read))
        except BadProxies as error:
            log.error("proxies not read again", problems=error.problems)  # noqa: TRY400 - no bug
        else:
            log.info("proxies read again", proxies=len(self._proxies))

    async def _run(self) -> None:
        while True:
            await self._sharing.woken()
            try:
                await self.step()
            except FrontierError as error:
                log.warning("proxies wait for the server", error=error.summary)
