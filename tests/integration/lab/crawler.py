"""A small crawler for the referee to judge: polite by default, rude where a test asks for it."""

from __future__ import annotations

import asyncio
import re
import time
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

import aiohttp

if TYPE_CHECKING:
    from skitter.lab.run import LabAddress

FAILURES = (aiohttp.ClientError, TimeoutError)
_HREF = re.compile(r'href="([^"]+)"')


@dataclass
class Crawler:
    """Fetches everything that can be reached, each host at its own pace."""

    session: aiohttp.ClientSession
    lab: LabAddress
    hurry: float = 1.0
    """The share of the policy's delay that it waits; below 1 is rude."""
    heed_robots: bool = True
    attempts: int = 5
    seen: set[str] = field(default_factory=set)
    _ends_s: dict[str, float] = field(default_factory=dict)
    _gates: dict[str, asyncio.Semaphore] = field(default_factory=dict)
    _tries: dict[str, int] = field(default_factory=lambda: defaultdict(int))

    async def crawl(self, *seeds: str) -> None:
        async with asyncio.TaskGroup() as group:
            for seed in seeds:
                self._add(group, seed)

    def _add(self, group: asyncio.TaskGroup, url: str) -> None:
        parts = urlsplit(url)
        skipped = parts.path.startswith(("/calendar/", "/a", "/loop/"))
        skipped |= self.heed_robots and self.lab.web.disallowed(parts.path)
        if not skipped and url not in self.seen:
            self.seen.add(url)
            group.create_task(self._fetch(group, url))

    async def _fetch(self, group: asyncio.TaskGroup, url: str) -> None:
        while self._tries[url] < self.attempts:
            self._tries[url] += 1
            try:
                links = await self._ask(url)
            except FAILURES:
                continue
            if links is not None:
                for link in links:
                    self._add(group, urljoin(url, link))
                return

    async def _ask(self, url: str) -> list[str] | None:
        host = urlsplit(url).hostname or ""
        policy = self.lab.web.policy(host)
        assert policy is not None
        gate = self._gates.setdefault(host, asyncio.Semaphore(policy.concurrency))
        async with gate:
            delay_s = policy.delay_ms / 1000 * self.hurry
            await _sleep_until(self._ends_s.get(host, 0.0) + delay_s)
            try:
                async with self.session.get(url, allow_redirects=False) as response:
                    self._ends_s[host] = time.monotonic()
                    return await _links(response)
            except FAILURES:
                self._ends_s[host] = time.monotonic()
                raise


async def _links(response: aiohttp.ClientResponse) -> list[str] | None:
    """Where the answer leads; None is worth another try."""
    text = await response.text()
    if response.status in (429, 500, 503):
        return None
    if "Location" in response.headers:
        return [response.headers["Location"]]
    return _HREF.findall(text) if response.status == 200 else []


async def _sleep_until(when_s: float) -> None:
    while (left_s := when_s - time.monotonic()) > 0:
        await asyncio.sleep(left_s)
