"""Moves queues when their job's state changed: parked ones of resumed jobs go back to their hosts,
those of ended jobs are emptied and their memory given back, a slice at a time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from skitter.frontier.frontier import Frontier

SLICE = 200
SLICES_A_TICK = 50
BANDS = ("1", "2", "3")


class Parker:
    """Works off a shard's lists of jobs to unpark and to sweep."""

    def __init__(self, frontier: Frontier) -> None:
        self._shards = frontier.shards
        self._jobs = frontier.jobs

    async def tend(self, shard: int) -> None:
        """Do a bounded part of what is to be done; the rest at the next tick."""
        prefix = self._shards.prefixes[shard]
        for no in await self._shards.command("SRANDMEMBER", f"{prefix}unpark", 20):
            await self._unpark(shard, no.decode())
        for no in await self._shards.command("SRANDMEMBER", f"{prefix}sweep", 20):
            await self.sweep(shard, no.decode())

    async def _unpark(self, shard: int, no: str) -> None:
        prefix = self._shards.prefixes[shard]
        state = await self._shards.command("HGET", f"{prefix}j:{no}", "s")
        for _ in range(SLICES_A_TICK):
            left = int(await self._shards.run(shard, "unpark", no, SLICE))
            if left == 0 or state == b"p":
                await self._shards.command("SREM", f"{prefix}unpark", no)
                return

    async def sweep(self, shard: int, no: str) -> bool:
        """Sweep a job's lane; empty what an ended job left. True when nothing is left to do."""
        prefix = self._shards.prefixes[shard]
        known = await self._jobs.known(await self._jobs.id_of(no))
        await self._shards.run(shard, "unpark", no, SLICE)
        for band in BANDS:
            await self._walk(shard, "sweep", band + known.job.lane)
        await self._walk(shard, "sweep_delayed")
        fields = await self._shards.fields(f"{prefix}j:{no}")
        ended = fields.get("s") == b"e"
        if ended and int(fields.get("qd", 0)) + int(fields.get("de", 0)) > 0:
            return False
        if ended and known.job.dedup is None and not await self._forget_seen(shard, no):
            return False
        await self._shards.command("SREM", f"{prefix}sweep", no)
        return True

    async def _walk(self, shard: int, name: str, *args: str) -> None:
        """A whole walk, a slice at a time: other calls go between the slices."""
        at = "0"
        while True:
            at = (await self._shards.run(shard, name, *args, at, SLICE)).decode()
            if at == "0":
                return

    async def _forget_seen(self, shard: int, scope: str) -> bool:
        for _ in range(SLICES_A_TICK):
            if int(await self._shards.run(shard, "forget_seen", scope, SLICE)) == 0:
                return True
        return False
