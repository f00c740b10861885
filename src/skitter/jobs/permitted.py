"""Fetches that no queue holds, each in a turn of its host, at the pace that all workers keep.

A permit is asked for until the host gives one, renewed while it is held, and ended by a report of
what the host did, so that the next turn comes when it should. Redirects and second attempts take a
permit of their own.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING
from urllib.parse import urljoin

import aiohttp

from skitter.errors import BadRequest, SitemapError, SkitterError
from skitter.frontier import Fetch, Frontier, Permit
from skitter.frontier.urls import parse
from skitter.resolve import Resolver, parse_rules

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from skitter.settings import FetchSettings

ATTEMPTS = 3
MAX_REDIRECTS = 5
PASSING = (0, 429, 500, 502, 503, 504)
REDIRECTS = (301, 302, 303, 307, 308)
CHUNK = 1 << 16


@asynccontextmanager
async def open_session(settings: FetchSettings) -> AsyncIterator[aiohttp.ClientSession]:
    """A session that names itself, resolves names and gives up as the settings say."""
    resolver = Resolver(parse_rules(settings.resolve))
    async with aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(resolver=resolver, limit=0, force_close=True),
        timeout=aiohttp.ClientTimeout(total=settings.timeout_s),
        headers={"User-Agent": settings.user_agent},
    ) as session:
        # It would ask again by itself when a connection is cut, and the host has no say in that.
        session._retry_connection = False  # noqa: SLF001 - there is no public way to say it
        yield session


@dataclass(frozen=True)
class Answer:
    """What a host did; status 0: there was no answer. error: why its body is not to be used."""

    status: int
    head_at: float
    latency_ms: float = -1.0
    location: str = ""
    retry_after: str = ""
    error: str = ""
    content_type: str = ""

    def report(self) -> Fetch:
        return Fetch(
            ago_ms=(time.monotonic() - self.head_at) * 1000,
            latency_ms=self.latency_ms,
            status=self.status,
            retry_after_ms=1000.0 * int(self.retry_after) if self.retry_after.isdigit() else 0.0,
        )


class PermittedFetcher:
    """Fetches by permit. wait_s is how long it asks a host for a turn.

    error is raised, with `url` and `reason`, where nothing can be asked.
    """

    def __init__(
        self,
        frontier: Frontier,
        session: aiohttp.ClientSession,
        *,
        wait_s: float,
        max_bytes: int,
        error: type[SkitterError] = SitemapError,
    ) -> None:
        self._frontier = frontier
        self._session = session
        self._wait_s = wait_s
        self._max_bytes = max_bytes
        self._error = error

    async def fetch(self, url: str, out: IO[bytes]) -> None:
        """Write what a URL leads to into a file, or raise the error."""
        target = url
        for _ in range(MAX_REDIRECTS + 1):
            answer = await self.ask(target, out)
            if answer.status not in REDIRECTS or not answer.location:
                break
            target = urljoin(target, answer.location)
        else:
            raise self._error(url=url, reason=f"it redirects more than {MAX_REDIRECTS} times")
        if answer.error or answer.status != 200:
            reason = answer.error or f"its server answers with status {answer.status}"
            raise self._error(url=target, reason=reason)

    async def ask(self, url: str, out: IO[bytes]) -> Answer:
        """What the host answers, after as many attempts as a passing failure is worth."""
        answer = await self._in_turn(url, out)
        for _ in range(ATTEMPTS - 1):
            if answer.status not in PASSING:
                break
            answer = await self._in_turn(url, out)
        return answer

    async def _in_turn(self, url: str, out: IO[bytes]) -> Answer:
        try:
            address = parse(url)
        except BadRequest as error:
            raise self._error(url=url, reason=error.reason) from error
        permit = await self._permit(url, address.host)
        answer = Answer(0, time.monotonic(), error="it was interrupted")
        renewing = asyncio.create_task(self._renew(permit))
        try:
            answer = await self._get(address.url, out)
        finally:
            renewing.cancel()
            with suppress(asyncio.CancelledError):
                await renewing
            await self._frontier.fetched([(permit, answer.report())])
        return answer

    async def _permit(self, url: str, host: str) -> Permit:
        """Ask for a turn until there is one."""
        deadline = time.monotonic() + self._wait_s
        while True:
            permit = await self._frontier.permit(host)
            if permit.granted and self._frontier.fresh(permit, margin_ms=self._margin_ms):
                return permit
            if permit.granted:  # the server was away, and the answer came too late
                await self._frontier.release([permit])
            wait_s = permit.wait_ms / 1000
            if time.monotonic() + wait_s > deadline:
                reason = f"its host gives no turn within {self._wait_s:g} s"
                raise self._error(url=url, reason=reason)
            await asyncio.sleep(wait_s)

    async def _renew(self, permit: Permit) -> None:
        while True:
            await asyncio.sleep(self._frontier.config.lease_ms / 3000)
            await self._frontier.renew([permit])

    @property
    def _margin_ms(self) -> float:
        return self._frontier.config.lease_ms / 10

    async def _get(self, url: str, out: IO[bytes]) -> Answer:
        out.seek(0)
        out.truncate()
        begun = time.monotonic()
        try:
            async with self._session.get(url, allow_redirects=False) as response:
                head_at = time.monotonic()
                error = await self._save(response, out)
                return Answer(
                    response.status,
                    head_at,
                    latency_ms=(head_at - begun) * 1000,
                    location=response.headers.get("Location", ""),
                    retry_after=response.headers.get("Retry-After", ""),
                    error=error,
                    content_type=response.headers.get("Content-Type", ""),
                )
        except TimeoutError:
            return Answer(0, time.monotonic(), error="its server does not answer in time")
        except (aiohttp.ClientError, OSError, ValueError) as error:
            return Answer(0, time.monotonic(), error=f"{type(error).__name__}: {error}")

    async def _save(self, response: aiohttp.ClientResponse, out: IO[bytes]) -> str:
        """Keep the body of a good answer; what is wrong with it, or an empty text."""
        if response.status != 200:
            return ""
        async for chunk in response.content.iter_chunked(CHUNK):
            out.write(chunk)
            if out.tell() > self._max_bytes:
                return f"it is longer than {self._max_bytes >> 20} MiB"
        return ""
