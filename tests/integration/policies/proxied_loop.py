"""A small crawler through a pool's proxies: what an engine has to do with its answers, and no more.

It fetches what is queued, follows nothing, and writes down each request with its egress.
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import aiohttp
from aiohttp_socks import ProxyConnectionError, ProxyConnector, ProxyError

from skitter.frontier import Fetch, Frontier, Lease, Settlement

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skitter.policies.proxies import ProxyPool

TIMEOUT_S = 10


@dataclass
class Answer:
    status: int = 0
    body: bytes = b""
    error: str = ""
    head_at: float = field(default_factory=time.monotonic)


@dataclass(frozen=True)
class Sent:
    """A request that was sent, when, and by which egress."""

    egress: str
    at: float
    host: str


def _socks_connector(proxy: str) -> ProxyConnector:
    """Its library knows no socks5h: who looks names up is an option."""
    scheme, _, rest = proxy.partition("://")
    return ProxyConnector.from_url(f"socks5://{rest}", rdns=scheme == "socks5h")


async def fetch(url: str, proxy: str | None) -> Answer:
    """One request on a connection of its own, never repeated by the client."""
    socks = proxy is not None and proxy.startswith("socks")
    connector = _socks_connector(proxy) if proxy and socks else aiohttp.TCPConnector()
    timeout = aiohttp.ClientTimeout(total=TIMEOUT_S)
    async with aiohttp.ClientSession(connector=connector, timeout=timeout) as session:
        session._retry_connection = False
        try:
            async with session.get(url, proxy=None if socks else proxy) as response:
                head_at = time.monotonic()
                return Answer(response.status, await response.read(), head_at=head_at)
        except (aiohttp.ClientProxyConnectionError, ProxyConnectionError) as error:
            return Answer(error=f"proxy: {error}")
        except TimeoutError as error:
            return Answer(error=f"timeout: {error}")
        except (aiohttp.ClientError, ProxyError, OSError) as error:
            return Answer(error=f"reset: {error}")


class ProxiedLoop:
    """Leases for the pool's egresses, one task for each batch of a host and egress."""

    def __init__(self, frontier: Frontier, pool: ProxyPool, *, in_hand: int = 40) -> None:
        self.sent: list[Sent] = []
        self.pages: list[tuple[str, str]] = []
        self.stopping = False
        self._frontier = frontier
        self._pool = pool
        self._in_hand = in_hand
        self._held = 0
        self._tasks: set[asyncio.Task[None]] = set()

    async def run(self, lane: str) -> None:
        while not self.stopping:
            room = self._in_hand - self._held
            leased = await self._frontier.lease(
                [lane], count=max(1, room), egresses=self._pool.egresses() if room > 0 else ()
            )
            for batch in _batches(leased.leases):
                self._held += len(batch)
                task = asyncio.create_task(self._work(batch))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
            await asyncio.sleep(0 if leased.leases else min(leased.retry_ms, 20) / 1000)
        await asyncio.gather(*self._tasks)

    async def _work(self, batch: list[Lease]) -> None:
        head_at = 0.0
        while batch:
            lease = batch.pop(0)
            wait_s = head_at + lease.delay_ms / 1000 - time.monotonic()
            await asyncio.sleep(max(0.0, wait_s))
            answer = await self._visit(lease)
            self._held -= 1
            if answer is None or not answer.status:
                break
            head_at = answer.head_at
        await self._frontier.release(batch)
        self._held -= len(batch)

    async def _visit(self, lease: Lease) -> Answer | None:
        """Fetch and settle; None: this egress is not to be used, or not now."""
        egress = self._pool.claim(lease.egress, lease.host)
        if egress is None:
            await self._frontier.release([lease])
            return None
        self.sent.append(Sent(egress, time.monotonic(), lease.host))
        url = lease.request.url
        answer = await fetch(url, self._pool.url_of(egress))
        verdict = self._pool.report(
            egress,
            lease.host,
            status=answer.status,
            error=answer.error,
            body_prefix=answer.body[:8192],
            url=url,
        )
        ago_ms = (time.monotonic() - answer.head_at) * 1000
        if verdict.retry:
            # Status -1: the host's clock goes on, and nothing counts against the site.
            await self._frontier.fetched([(lease, Fetch(ago_ms=ago_ms, status=-1))])
            await self._frontier.release([lease])
            return None
        self.pages.append((url, egress))
        done = Fetch(ago_ms=ago_ms, latency_ms=0, status=answer.status)
        await self._frontier.settle([Settlement(lease, fetch=done, page=True)])
        return answer


def _batches(leases: list[Lease]) -> Iterator[list[Lease]]:
    groups: dict[tuple[str, str], list[Lease]] = defaultdict(list)
    for lease in leases:
        if lease.delay_ms:
            groups[lease.host, lease.egress].append(lease)
        else:
            yield [lease]
    yield from groups.values()
