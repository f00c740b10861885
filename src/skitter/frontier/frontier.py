"""The frontier: which URL is next, when its host may be asked, and who has it.

Batch-first: every call takes many and makes one round trip to each shard that it touches. A call
returns when its effect is in the server; it waits and repeats while the server is away.
"""

from __future__ import annotations

import asyncio
import secrets
from typing import TYPE_CHECKING, Any, Self

import ormsgpack

from skitter.errors import BadReply, BadRequest
from skitter.frontier.adding import Adding
from skitter.frontier.cookies import CookieJars
from skitter.frontier.dead import DeadLetters
from skitter.frontier.egresses import Egresses
from skitter.frontier.endings import Endings
from skitter.frontier.events import JobEvents
from skitter.frontier.hosts import Hosts
from skitter.frontier.keys import shard_of_host
from skitter.frontier.lanes import Lanes
from skitter.frontier.lease import Added, Fetch, Lease, Leased, Permit, Renewal, Settlement, boot_ms
from skitter.frontier.live_jobs import LiveJobs
from skitter.frontier.policy import Config
from skitter.frontier.request import Request, unpack
from skitter.frontier.robots import RobotsTexts
from skitter.frontier.server import wait_for_server
from skitter.frontier.shards import Shards, log
from skitter.frontier.stats import RESERVED, Stats
from skitter.frontier.urls import START_HOST
from skitter.frontier.workers import Workers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

DIRECT = ("direct",)
MOST_LEASES = 1000
IDLE_MS = 750
MOST = 1 << 53  # Lua's numbers are exact up to here
GONE, GIVE_BACK = -1, -2
_OUTCOMES = {"done": "d", "retry": "r", "bury": "b"}


class Frontier:
    """One process's way to the frontier. Open it with `connect`, close it when done.

    jobs, events, endings, dead, hosts, egresses, cookies, robots, stats, lanes and workers are its
    parts: live jobs, what happens to them and at their end, dead letters, hosts and their policies,
    how egresses stand, cookie jars, robots.txt, figures, lanes with work, and heartbeats.
    """

    def __init__(
        self, shards: Shards, *, max_url_bytes: int, max_request_bytes: int, unit: str
    ) -> None:
        self.shards = shards
        self.worker = shards.worker
        self.config = shards.config
        self.jobs = LiveJobs(shards)
        self.events = JobEvents(shards)
        self.endings = Endings(shards, self.jobs)
        self.dead = DeadLetters(shards, self.jobs)
        self.hosts = Hosts(shards, unit=unit)
        self.egresses = Egresses(shards, self.hosts)
        self.cookies = CookieJars(shards, self.jobs)
        self.robots = RobotsTexts(shards, unit=unit)
        self.stats = Stats(shards, self.jobs)
        self.lanes = Lanes(shards)
        self.workers = Workers(shards)
        self._adding = Adding(
            shards,
            self.jobs,
            max_url_bytes=max_url_bytes,
            max_request_bytes=max_request_bytes,
            unit=unit,
        )
        self.only_hosts: tuple[str, ...] = ()
        self._ask_after: dict[int, float] = {}
        self._first_shard = 0

    @classmethod
    async def connect(  # noqa: PLR0913 - each is a setting of its own
        cls,
        url: str,
        *,
        worker: str,
        namespace: str = "skitter",
        shards: int | None = None,
        config: Config | None = None,
        keep_config: bool = False,
        patience_s: float = 30.0,
        timeout_s: float = 5.0,
        wait_replicas: int = 0,
        wait_timeout_s: float = 1.0,
        max_url_bytes: int = 8192,
        max_request_bytes: int = 262_144,
        unit: str = "host",
        clock: Callable[[], float] | None = None,
        revive: Callable[[], object] | None = None,
    ) -> Frontier:
        """Connect to a server, waiting until it is up; set the shards up at first use.

        config, if given, replaces the settings that the shards have, unless keep_config says to
        leave those; clock is for tests. revive is called, in a thread, when the server is away:
        it may bring it up again.
        """
        server = await wait_for_server(url, patience_s=patience_s, log=log, timeout_s=timeout_s)
        parts = Shards(
            server,
            namespace=namespace,
            shards=shards or (16 if server.cluster else 1),
            worker=worker,
            patience_s=patience_s,
            wait_replicas=wait_replicas,
            wait_timeout_s=wait_timeout_s,
        )
        parts.clock = clock
        parts.revive = revive
        try:
            await parts.begin(config or Config(), replace=config is not None and not keep_config)
        except BaseException:
            await server.close()
            raise
        return cls(
            parts, max_url_bytes=max_url_bytes, max_request_bytes=max_request_bytes, unit=unit
        )

    async def close(self) -> None:
        """Close the connections; leases that are held run out by themselves."""
        await self.shards.server.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def add(
        self,
        requests: Sequence[Request],
        *,
        parent: Request | None = None,
        met: dict[int, int] | None = None,
    ) -> Added:
        """Queue those requests that are new in their job's scope.

        A bad one is refused with its reason, and the rest of the batch goes on. parent tells
        requests that are not filtered apart, by how often each occurs among its children. A page's
        children may come in several calls, one after the other, if all are given the same `met`:
        a dictionary that the caller keeps for that parent, empty at first. Without it, the same
        child in a second call counts as known.
        """
        return await self._adding.add(requests, parents=[parent] * len(requests), met=met)

    async def lease(
        self,
        lanes: Sequence[str],
        *,
        count: int,
        egresses: Sequence[str] = DIRECT,
        shards: Iterable[int] | None = None,
    ) -> Leased:
        """Up to `count` requests of hosts whose turn has come, for one of these egresses.

        An empty answer spends nobody's turn and says when to ask again.
        """
        if not egresses:
            return Leased([], retry_ms=IDLE_MS)
        allowed = list(range(self.shards.count)) if shards is None else sorted(set(shards))
        self._first_shard += 1
        leases: list[Lease] = []
        now, soonest = boot_ms(), float(IDLE_MS)
        for turn in range(len(allowed)):
            shard = allowed[(turn + self._first_shard) % len(allowed)]
            left_ms = self._ask_after.get(shard, 0.0) - now
            if left_ms > 0:
                soonest = min(soonest, left_ms)
                continue
            wanted = min(count - len(leases), MOST_LEASES)
            found = await self._lease(shard, lanes, count=wanted, egresses=egresses)
            if any(lease.alone for lease in found.leases):
                if not leases:
                    return found
                # Nothing may be beside it: it waits for a call that begins with its shard.
                await self.release(found.leases)
                continue
            leases += found.leases
            if len(leases) >= count:
                break
            soonest = min(soonest, found.retry_ms)
            if self.shards.count > 1:
                self._ask_after[shard] = boot_ms() + min(found.retry_ms, 100)
        return Leased(leases, retry_ms=0 if leases else max(1, int(soonest)))

    def keep_to(self, hosts: Iterable[str]) -> None:
        """Lease nothing but requests of these hosts, and runs of start(), which ask nobody."""
        units = {self.hosts.unit_of(host.lower()) for host in hosts}
        self.only_hosts = (START_HOST, *sorted(units)) if units else ()

    async def _lease(
        self, shard: int, lanes: Sequence[str], *, count: int, egresses: Sequence[str]
    ) -> Leased:
        sent_ms = boot_ms()
        payload = [self.worker, secrets.token_hex(8), count, list(lanes), list(egresses)]
        if self.only_hosts:
            payload.append(list(self.only_hosts))
        retry_ms, wants, flat = await self.shards.once(shard, "lease", "lease", payload)
        granted = [await self.jobs.grant_quota(no.decode(), shard) for no in wants]
        if any(granted) and not flat:
            return await self._lease(shard, lanes, count=count, egresses=egresses)
        leases = [
            await self._read_lease(flat[i : i + 8], shard=shard, sent_ms=sent_ms)
            for i in range(0, len(flat), 8)
        ]
        wait_ms = 1 if any(granted) else int(retry_ms)
        return Leased([lease for lease in leases if lease], retry_ms=wait_ms)

    async def _read_lease(self, row: list[Any], *, shard: int, sent_ms: float) -> Lease | None:
        token, host, no, priority, egress, entry, delay_ms, alone = row
        name = host.decode()
        job = await self.jobs.id_of(no.decode())
        try:
            request = unpack(entry, job=job, host=name, priority=int(priority))
        except BadReply as error:
            # Nobody could ever run it, and it must not be lost: it is buried as it is.
            await self._bury_unreadable(token.decode(), shard, str(error))
            return None
        return Lease(
            token=token.decode(),
            request=request,
            host=name,
            egress=egress.decode(),
            delay_ms=int(delay_ms),
            shard=shard,
            alone=bool(int(alone)),
            confirmed_ms=sent_ms,
        )

    async def _bury_unreadable(self, token: str, shard: int, error: str) -> None:
        log.error("request cannot be read", shard=shard, error=error)
        row = ["b", False, 0, "unreadable", error[:500], 0, {}]
        await self.shards.once(shard, "settle", "settle", [self.worker, [token], [row]])

    async def permit(self, host: str, *, egress: str = "direct") -> Permit:
        """A turn at a host for something that is not queued; ends with `fetched` or `release`."""
        unit = self.hosts.unit_of(host)
        shard, token, sent_ms = (
            shard_of_host(unit, self.shards.count),
            secrets.token_hex(10),
            boot_ms(),
        )
        wait_ms, delay_ms = await self.shards.once(
            shard, "lease", "permit", [self.worker, token, unit, egress]
        )
        return Permit(token, unit, egress, shard, int(delay_ms), int(wait_ms), sent_ms)

    async def fetched(self, fetches: Sequence[tuple[Lease | Permit, Fetch]]) -> list[bool]:
        """Give turns back as soon as their fetch is over; False where the lease is gone."""
        tokens = [lease for lease, _ in fetches]
        rows = [_fetch_row(fetch) for _, fetch in fetches]
        return await self._by_shard(tokens, "fetched", rows)

    async def settle(self, settlements: Sequence[Settlement]) -> list[bool]:
        """Add the children, then end the leases. False: the lease was gone, and nothing counts.

        Twice is the same as once: children of a refused settlement stand, for whoever has the
        request now makes the same ones. A figure that cannot be counted raises BadRequest before
        anything is done.
        """
        counted = [_settlement_row(settlement) for settlement in settlements]
        children = [child for settlement in settlements for child in settlement.children]
        if children:
            parents = [s.lease.request for s in settlements for _ in s.children]
            await self._adding.add(children, parents=parents)
        return await self._by_shard(
            [settlement.lease for settlement in settlements], "settle", counted
        )

    async def renew(self, leases: Sequence[Lease | Permit]) -> list[Renewal]:
        """Keep leases for another lease time, and learn what changed about them."""
        answers: dict[str, int] = {}
        sent_ms = boot_ms()
        for shard, members in _grouped(leases).items():
            tokens = [leases[i].token for i in members]
            reply = await self.shards.run(shard, "renew", ormsgpack.packb([self.worker, tokens]))
            answers.update(zip(tokens, map(int, reply), strict=True))
        for lease in leases:
            if answers[lease.token] != GONE:
                lease.confirmed_ms = sent_ms
        return [_renewal(answers[lease.token]) for lease in leases]

    async def release(self, leases: Sequence[Lease | Permit]) -> list[bool]:
        """Hand requests back unfetched: they are first in line again, and nothing is counted."""
        return await self._by_shard(leases, "release", None)

    async def reap(self, worker: str = "") -> int:
        """Take back leases that ran out, or all those of a worker that is known to be dead."""
        reaped = 0
        for shard in range(self.shards.count):
            while True:
                taken, _ = await self.shards.run(shard, "reap", worker, 500)
                reaped += int(taken)
                if int(taken) < 500:
                    break
        return reaped

    def fresh(self, lease: Lease | Permit, *, margin_ms: float = 3000) -> bool:
        """Whether the host may still be asked on this lease: checked right before each write."""
        return boot_ms() < lease.confirmed_ms + self.shards.config.lease_ms - margin_ms

    async def forget(self, job: str, urls: Sequence[str]) -> int:
        """Forget that URLs were seen in a job's scope; how many were known."""
        return await self._adding.forget(job, urls)

    async def _by_shard(
        self, leases: Sequence[Lease | Permit], name: str, rows: list[Any] | None
    ) -> list[bool]:
        answers = [False] * len(leases)

        async def one(shard: int, members: list[int]) -> None:
            payload: list[Any] = [self.worker, [leases[i].token for i in members]]
            if rows is not None:
                payload.append([rows[i] for i in members])
            reply = await self.shards.once(shard, "settle", name, payload)
            for i, answer in zip(members, reply, strict=True):
                answers[i] = int(answer) == 1

        await asyncio.gather(*(one(*group) for group in _grouped(leases).items()))
        return answers


def _grouped(leases: Sequence[Lease | Permit]) -> dict[int, list[int]]:
    groups: dict[int, list[int]] = {}
    for i, lease in enumerate(leases):
        groups.setdefault(lease.shard, []).append(i)
    return groups


def _fetch_row(fetch: Fetch) -> list[float]:
    return [fetch.ago_ms, fetch.latency_ms, fetch.status, fetch.retry_after_ms]


def _settlement_row(settlement: Settlement) -> list[Any]:
    return [
        _OUTCOMES[settlement.outcome],
        _fetch_row(settlement.fetch) if settlement.fetch else False,
        settlement.retry_ms,
        _clean(settlement.reason[:100]),
        _clean(settlement.error[:500]),
        int(settlement.page),
        _countable(settlement),
    ]


def _clean(text: str) -> str:
    """Text that can be stored: an error may quote a page that was no clean text."""
    return text.encode("utf-8", "replace").decode()


def _countable(settlement: Settlement) -> dict[str, int]:
    """The figures, if a counter can take each: a script that fails half-way has no way back."""
    for name, value in settlement.figures.items():
        if name in RESERVED or not name or type(value) is not int or abs(value) > MOST:
            reason = f"its figure {name!r} cannot be counted: {value!r}"
            raise BadRequest(url=settlement.lease.request.url, reason=reason)
    return settlement.figures


def _renewal(answer: int) -> Renewal:
    if answer == GONE:
        return Renewal("gone")
    if answer == GIVE_BACK:
        return Renewal("give back")
    return Renewal("kept", delay_ms=answer)
