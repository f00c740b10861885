"""What is done to a round: to its clients, its server, its connections and its clock."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from tests.chaos.plants import SKEW_KEY
from tests.servers import Cut

if TYPE_CHECKING:
    from random import Random

    from tests.chaos.crew import Crew
    from tests.chaos.history import History
    from tests.servers import CutProxy, ServerProcess

# By how often they come. A clock that leaps forward shortens gaps, so it has rounds of its own.
WEIGHTS = {
    "kill client": 5,
    "kill and report": 5,
    "kill in flight": 2,
    "stop client": 4,
    "kill server": 2,
    "pause server": 2,
    "cut all": 2,
    "cut at call": 5,
    "cut at settle": 2,
    "turn clock back": 1,
}
_ONCE = Retry(NoBackoff(), 0)


@dataclass
class Disturbances:
    """One coroutine for each kind; the round says when."""

    roll: Random
    crew: Crew
    server: ServerProcess
    proxy: CutProxy
    history: History
    skew_ms: int = 0

    async def run(self, kind: str, *, after_s: float) -> None:
        await asyncio.sleep(after_s)
        self.history.note("fault", kind=kind)
        await getattr(self, "_" + kind.replace(" ", "_"))()

    async def _kill_client(self) -> None:
        await self.crew.kill_one(report=False, restart_s=self.roll.uniform(0, 0.2))

    async def _kill_and_report(self) -> None:
        await self.crew.kill_one(report=True, restart_s=0)

    async def _kill_in_flight(self) -> None:
        await self.crew.kill_in_flight(patience_s=1.0)

    async def _stop_client(self) -> None:
        await self.crew.stop_one(more_ms=self.roll.uniform(150, 500))

    async def _kill_server(self) -> None:
        if self.server.running:
            self.server.kill()
            await asyncio.sleep(self.roll.uniform(0, 0.15))
            self.server.restart()

    async def _pause_server(self) -> None:
        if self.server.running:
            self.server.pause()
            await asyncio.sleep(self.roll.uniform(0.05, 0.6))
            self.server.resume()

    async def _cut_all(self) -> None:
        self.proxy.cut_all()

    async def _cut_at_call(self) -> None:
        cut = self.roll.choice(list(Cut))
        self.proxy.cut_next(cut, match=b"evalsha", times=self.roll.randint(1, 4))

    async def _cut_at_settle(self) -> None:
        """Settlements are known by their outcome's reason, which is in the message."""
        cut = self.roll.choice([Cut.AFTER_REQUEST, Cut.MID_REPLY])
        self.proxy.cut_next(cut, match=b"done", times=3)

    async def _turn_clock_back(self) -> None:
        await self._turn_clock(-self.roll.randint(5_000, 60_000))

    async def _turn_clock_forward(self) -> None:
        await self._turn_clock(self.roll.randint(5_000, 60_000))

    async def _turn_clock(self, by_ms: int) -> None:
        self.skew_ms += by_ms
        try:
            with redis.Redis.from_url(self.server.url, socket_timeout=0.1, retry=_ONCE) as client:
                client.set(SKEW_KEY, self.skew_ms)
        except redis.RedisError:  # the server is away just now; its clock stays as it is
            self.skew_ms -= by_ms
