"""A site whose robots.txt answers by script, and a crawler that asks it as an engine would."""

from __future__ import annotations

import asyncio
import time
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import aiohttp
from aiohttp import web

from skitter.frontier import Fetch, Settlement
from skitter.policies.robots import RobotsAnswer, origin_of
from skitter.resolve import Resolver, parse_rules

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from skitter.frontier import Frontier, Lease
    from skitter.policies.robots import Robots

Script = list[tuple[int, str]]
"""Status and body, or Location, of each answer in turn; the last one goes on."""


@dataclass
class RobotsSite:
    """What its robots.txt says, and how often it was asked for."""

    script: Script
    port: int = 0
    asked: list[str] = field(default_factory=list)

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def answer(self, request: web.Request) -> web.Response:
        self.asked.append(request.path)
        status, text = self.script[0] if len(self.script) == 1 else self.script.pop(0)
        if 300 <= status < 400:
            return web.Response(status=status, headers={"Location": text})
        return web.Response(status=status, text=text)


@asynccontextmanager
async def robots_site(*script: tuple[int, str]) -> AsyncIterator[RobotsSite]:
    site = RobotsSite(list(script))
    app = web.Application()
    app.router.add_get("/{tail:.*}", site.answer)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    site.port = runner.addresses[0][1]
    try:
        yield site
    finally:
        await runner.cleanup()


@asynccontextmanager
async def client(rule: str = "") -> AsyncIterator[aiohttp.ClientSession]:
    rules = parse_rules([rule] if rule else [])
    connector = aiohttp.TCPConnector(resolver=Resolver(rules), limit=0, force_close=True)
    async with aiohttp.ClientSession(connector=connector) as session:
        session._retry_connection = False
        yield session


@dataclass
class PoliteCrawler:
    """Leases, reads robots.txt inside the turn, fetches at the pace it is told, settles."""

    frontier: Frontier
    robots: Robots
    session: aiohttp.ClientSession
    head_at: float = float("-inf")
    disallowed: list[str] = field(default_factory=list)

    async def crawl(self, lane: str, done: Callable[[], object]) -> None:
        while not done():
            leased = await self.frontier.lease([lane], count=1)
            for lease in leased.leases:
                await self.visit(lease)
            if not leased.leases:
                await asyncio.sleep(min(leased.retry_ms, 20) / 1000)

    async def visit(self, lease: Lease) -> None:
        self.head_at = float("-inf")
        url, status = lease.request.url, 0

        async def fetch(robots_url: str) -> RobotsAnswer:
            return await self.ask(lease, robots_url)

        rules = await self.robots.rules(origin_of(url), fetch=fetch)
        assert rules is not None
        lease.delay_ms = max(lease.delay_ms, rules.delay_ms)
        if rules.allows(url):
            status = (await self.ask(lease, url)).status
        else:
            self.disallowed.append(url)
        ago_ms = (time.monotonic() - self.head_at) * 1000
        sent = self.head_at > 0
        fetch_report = Fetch(ago_ms=ago_ms, latency_ms=1, status=status or 200) if sent else None
        await self.frontier.settle([Settlement(lease, fetch=fetch_report)])

    async def ask(self, lease: Lease, url: str) -> RobotsAnswer:
        await asyncio.sleep(max(0.0, self.head_at + lease.delay_ms / 1000 - time.monotonic()))
        async with self.session.get(url, allow_redirects=False) as response:
            self.head_at = time.monotonic()
            location = response.headers.get("Location", "")
            return RobotsAnswer(response.status, await response.read(), location)
