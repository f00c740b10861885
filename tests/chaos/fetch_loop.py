"""A plain crawler on the frontier: leases, fetches at each host's pace, follows links, settles.

It knows no spiders; the engines replace it. What it shows is how the frontier is meant to be used:
one task for each host's batch, the gap counted from the arrival of a response's head, nothing sent
on a lease that may be stale, robots.txt read inside the turn, retries by policy, and leases renewed
while they are held. aiohttp sends a request again by itself when its connection is cut, and the
host would be asked twice without a pause: that is turned off, and so connections are not kept.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections import defaultdict
from contextlib import suppress
from dataclasses import dataclass, field
from html import unescape
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

import aiohttp
import structlog
from protego import Protego

from skitter.frontier import Fetch, Frontier, HostPolicy, Lease, Request, Settlement
from skitter.resolve import Resolver, parse_rules

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from skitter.frontier import RetryPolicy
    from skitter.settings import FetchSettings

log = structlog.get_logger(__name__)

IN_HAND = 64
ROBOTS_KNOWN_MS = 3_600_000
SLOW_DOWN = (429, 503)
_LINK = re.compile(r'<a\s[^>]*?href="([^"#]+)', re.IGNORECASE)


async def crawl(
    frontier: Frontier,
    *,
    lanes: Sequence[str],
    fetch: FetchSettings,
    retry: RetryPolicy,
    stop: Callable[[], bool],
    in_hand: int = IN_HAND,
) -> None:
    """Crawl these lanes until `stop` says so; then hand back what was not begun."""
    connector = aiohttp.TCPConnector(
        resolver=Resolver(parse_rules(fetch.resolve)), limit=0, force_close=True
    )
    timeout = aiohttp.ClientTimeout(total=fetch.timeout_s)
    headers = {"User-Agent": fetch.user_agent}
    async with aiohttp.ClientSession(
        connector=connector, timeout=timeout, headers=headers
    ) as session:
        session._retry_connection = False
        loop = FetchLoop(frontier, session=session, settings=fetch, retry=retry)
        renewing = asyncio.create_task(loop.keep())
        try:
            await loop.run(lanes, in_hand=in_hand, stop=stop)
        finally:
            renewing.cancel()
            with suppress(asyncio.CancelledError):
                await renewing


@dataclass(frozen=True)
class Answer:
    """A response's head, and the body if it was read. status 0: there was none."""

    status: int
    head_at: float
    latency_ms: float
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    error: str = ""

    def report(self) -> Fetch:
        """What the host should know, as of now."""
        return Fetch(
            ago_ms=(time.monotonic() - self.head_at) * 1000,
            latency_ms=self.latency_ms,
            status=self.status,
            retry_after_ms=_seconds(self.headers.get("retry-after", "")) * 1000,
        )


class FetchLoop:
    """One process's leases and what it knows of robots.txt."""

    def __init__(
        self,
        frontier: Frontier,
        *,
        session: aiohttp.ClientSession,
        settings: FetchSettings,
        retry: RetryPolicy,
    ) -> None:
        self._frontier = frontier
        self._session = session
        self._settings = settings
        self._retry = retry
        self._held: dict[str, Lease] = {}
        self._gone: set[str] = set()
        self._robots: dict[str, Protego] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def run(self, lanes: Sequence[str], *, in_hand: int, stop: Callable[[], bool]) -> None:
        """Lease and fetch until told to stop."""
        while not stop():
            room = in_hand - len(self._held)
            found = await self._frontier.lease(lanes, count=room) if room else None
            if found is None or not found.leases:
                await asyncio.sleep(min(found.retry_ms, 100) / 1000 if found else 0.02)
                continue
            if found.leases[0].alone:
                await self._finish()
            self._begin(found.leases)
            if found.leases[0].alone:
                await self._finish()
        await self._finish()

    async def _finish(self) -> None:
        """Wait for all that was begun: a request that workers died with runs by itself."""
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def keep(self) -> None:
        """Renew all that is held, three times in a lease."""
        while True:
            await asyncio.sleep(self._frontier.config.lease_ms / 3000)
            leases = list(self._held.values())
            answers = await self._frontier.renew(leases) if leases else []
            for lease, renewal in zip(leases, answers, strict=True):
                lease.delay_ms = max(lease.delay_ms, renewal.delay_ms)
                if renewal.answer != "kept":
                    self._gone.add(lease.token)

    def _begin(self, leases: Sequence[Lease]) -> None:
        """A host with a delay gets one task for its batch; of others, each request has its own."""
        batches: dict[str, list[Lease]] = defaultdict(list)
        for lease in leases:
            self._held[lease.token] = lease
            batches[lease.host if lease.delay_ms else lease.token].append(lease)
        for batch in batches.values():
            task = asyncio.create_task(self._work(batch))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _work(self, batch: list[Lease]) -> None:
        last_head_at = float("-inf")
        while batch:
            lease = batch.pop(0)
            try:
                answer = await self._visit(lease, last_head_at)
            except Exception as error:  # one page's trouble is not the others'
                log.exception("page failed", url=lease.request.url)
                await self._settle_failed(lease, Answer(0, time.monotonic(), -1, error=repr(error)))
                continue
            finally:
                self._held.pop(lease.token, None)
            if answer is None or answer.status in (0, *SLOW_DOWN):
                break
            last_head_at = answer.head_at
        await self._hand_back(batch)

    async def _hand_back(self, leases: list[Lease]) -> None:
        for lease in leases:
            self._held.pop(lease.token, None)
        if leases:
            await self._frontier.release(leases)

    async def _visit(self, lease: Lease, last_head_at: float) -> Answer | None:
        """Fetch and settle one request; None if nothing may be sent for it any more."""
        robots, read = self._robots.get(lease.host), None
        if robots is None:
            robots, read = await self._read_robots(lease, last_head_at)
            last_head_at = read.head_at if read else last_head_at
        if robots is not None and not robots.can_fetch(
            lease.request.url, self._settings.user_agent
        ):
            await self._end_turn(lease, read)
            await self._frontier.settle([Settlement(lease, figures={"disallowed": 1})])
            return Answer(200, last_head_at, -1)
        answer = await self._fetch(lease, lease.request.url, last_head_at) if robots else None
        if answer is None:
            await self._end_turn(lease, read)
            await self._frontier.release([lease])
        elif answer.status == 0 or answer.status >= 500 or answer.status in SLOW_DOWN:
            await self._settle_failed(lease, answer)
        else:
            await self._settle_page(lease, answer)
        return answer

    async def _end_turn(self, lease: Lease, read: Answer | None) -> None:
        """The host was asked for robots.txt and for nothing else: its pause counts from there."""
        if read is not None:
            await self._frontier.fetched([(lease, read.report())])

    async def _read_robots(
        self, lease: Lease, last_head_at: float
    ) -> tuple[Protego | None, Answer | None]:
        """The host's robots.txt, in this lease's turn. None: it could not be had, so wait."""
        parts = urlsplit(lease.request.url)
        url = f"{parts.scheme}://{parts.netloc}/robots.txt"
        answer = await self._fetch(lease, url, last_head_at)
        if answer is None or answer.status == 0 or answer.status >= 500:
            await self._frontier.hosts.set_policy(lease.host, HostPolicy(robots_ms=0))
            return None, answer
        text = answer.body.decode("utf-8", "replace") if answer.status == 200 else ""
        robots = Protego.parse(text)
        delay_ms = int(1000 * (robots.crawl_delay(self._settings.user_agent) or 0))
        policy = HostPolicy(crawl_delay_ms=delay_ms, robots_ms=ROBOTS_KNOWN_MS)
        lease.delay_ms = max(
            lease.delay_ms, await self._frontier.hosts.set_policy(lease.host, policy)
        )
        self._robots[lease.host] = robots
        return robots, answer

    async def _fetch(self, lease: Lease, url: str, last_head_at: float) -> Answer | None:
        """Wait for the host's pace, make sure of the lease, then ask."""
        # A renewal may lengthen the delay meanwhile, hence the loop.
        while (wait_s := last_head_at + lease.delay_ms / 1000 - time.monotonic()) > 0:
            await asyncio.sleep(wait_s)
        if lease.token in self._gone or not self._frontier.fresh(lease, margin_ms=self._margin_ms):
            return None
        begun = time.monotonic()
        try:
            async with self._session.get(url, allow_redirects=False) as response:
                head_at = time.monotonic()
                body = await self._read(response)
                headers = {name.lower(): value for name, value in response.headers.items()}
                return Answer(response.status, head_at, (head_at - begun) * 1000, headers, body)
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            return Answer(0, time.monotonic(), -1, error=f"{type(error).__name__}: {error}")

    async def _read(self, response: aiohttp.ClientResponse) -> bytes:
        body = await response.content.read(self._settings.max_body_bytes + 1)
        while not response.content.at_eof() and len(body) <= self._settings.max_body_bytes:
            body += await response.content.read(self._settings.max_body_bytes + 1 - len(body))
        if len(body) > self._settings.max_body_bytes:
            raise aiohttp.ClientPayloadError("the body is too long")
        return body

    async def _settle_page(self, lease: Lease, answer: Answer) -> None:
        settlement = Settlement(
            lease,
            fetch=answer.report(),
            children=_children(lease.request, answer),
            page=answer.status == 200,
            figures={"bytes": len(answer.body), f"status_{answer.status // 100}xx": 1},
        )
        await self._frontier.settle([settlement])

    async def _settle_failed(self, lease: Lease, answer: Answer) -> None:
        reason = f"http {answer.status}" if answer.status else "connection"
        fetch = answer.report()
        wait_ms = self._retry.wait_ms(
            lease.request.attempts, reason=reason, retry_after_ms=fetch.retry_after_ms
        )
        settlement = Settlement(
            lease,
            outcome="bury" if wait_ms is None else "retry",
            fetch=fetch,
            retry_ms=wait_ms or 0,
            reason=reason,
            error=answer.error,
        )
        await self._frontier.settle([settlement])

    @property
    def _margin_ms(self) -> float:
        return self._frontier.config.lease_ms / 10


def _children(parent: Request, answer: Answer) -> list[Request]:
    """Where a redirect leads, or what a page links to."""
    if 300 <= answer.status < 400 and "location" in answer.headers:
        links, depth = [answer.headers["location"]], parent.depth
    elif answer.status == 200 and "html" in answer.headers.get("content-type", ""):
        text = answer.body.decode("utf-8", "replace")
        links, depth = [unescape(link) for link in _LINK.findall(text)], parent.depth + 1
    else:
        return []
    urls = dict.fromkeys(urljoin(parent.url, link) for link in links)
    return [Request(parent.job, url, depth=depth) for url in urls]


def _seconds(text: str) -> float:
    return float(text) if text.isdigit() else 0.0
