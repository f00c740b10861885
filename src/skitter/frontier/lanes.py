"""Lanes: which spider with which arguments each one is, and which of them have work now.

A process asks every second or so, and there may be thousands of live jobs: so it reads a job's
record once, learns of new ones by the time of their submission, and asks about many in one call.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

import ormsgpack

from skitter.frontier.job import Job

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from skitter.frontier.shards import Shards

READ_AT_ONCE, ASKED_AT_ONCE = 500, 250


@dataclass(frozen=True, slots=True)
class LaneSpec:
    """What runs in a lane."""

    lane: str
    spider: str
    args: dict[str, str]


class Lanes:
    """The lanes of all live jobs, as one process knows them."""

    def __init__(self, shards: Shards) -> None:
        self._shards = shards
        self._specs: dict[str, LaneSpec] = {}
        self._lane_of: list[dict[str, str]] = [{} for _ in range(shards.count)]
        self._since: list[float] = [0.0] * shards.count

    async def learn(self, *, anew: bool = False) -> dict[str, LaneSpec]:
        """The lanes of all live jobs. Only what is new is read, unless `anew`.

        Ended jobs are forgotten when it is anew; until then a lane may be known in vain.
        """
        await asyncio.gather(*(self._learn(home, anew=anew) for home in range(self._shards.count)))
        if anew:
            known = {lane for lanes in self._lane_of for lane in lanes.values()}
            self._specs = {lane: spec for lane, spec in self._specs.items() if lane in known}
        return dict(self._specs)

    async def ready(
        self,
        lanes: Sequence[str],
        *,
        shards: Iterable[int] | None = None,
        hosts: Sequence[str] = (),
    ) -> dict[str, int]:
        """Lanes with something queued, and the ms until the first of their hosts may be ready.

        Some shards or hosts alone can be asked about; hosts are named as their clocks are.
        """
        asked = range(self._shards.count) if shards is None else list(shards)
        soonest: dict[str, int] = {}
        for first in range(0, len(lanes), ASKED_AT_ONCE):
            part = list(lanes[first : first + ASKED_AT_ONCE])
            data = ormsgpack.packb([part, list(hosts)] if hosts else [part])
            for reply in await asyncio.gather(*(self._shards.run(n, "ready", data) for n in asked)):
                for lane, wait in zip(part, map(int, reply), strict=True):
                    if wait >= 0:
                        soonest[lane] = min(wait, soonest.get(lane, wait))
        return soonest

    async def _learn(self, home: int, *, anew: bool) -> None:
        nos = await self._live(home, anew=anew)
        known = self._lane_of[home]
        if anew:
            known = self._lane_of[home] = {no: known[no] for no in nos if no in known}
        unread = [no for no in nos if no not in known]
        for first in range(0, len(unread), READ_AT_ONCE):
            await self._read(home, unread[first : first + READ_AT_ONCE])

    async def _live(self, home: int, *, anew: bool) -> list[str]:
        """Numbers of live jobs submitted since the last look, those of its last moment again."""
        since = "-inf" if anew else f"{self._since[home]:.0f}"
        flat = await self._shards.command(
            "ZRANGEBYSCORE", f"{self._shards.prefixes[home]}live", since, "+inf", "WITHSCORES"
        )
        if flat:
            self._since[home] = float(flat[-1])
        return [no.decode() for no in flat[::2]]

    async def _read(self, home: int, nos: list[str]) -> None:
        data = ormsgpack.packb(nos)
        replies = await self._shards.run(home, "job_read", data, clocked=False)
        for no, reply in zip(nos, replies, strict=True):
            if not reply:  # it was forgotten meanwhile
                continue
            job = Job.loads(reply)
            self._lane_of[home][no] = job.lane
            self._specs.setdefault(job.lane, LaneSpec(job.lane, job.spider, job.args))
