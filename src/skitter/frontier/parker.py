"""Moves queues when their job's state changed: parked ones of resumed jobs go back to their hosts,
those of ended jobs are emptied and their memory given back, a slice at a time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from skitter.frontier.frontier import Frontier

SLICE = 100
SLICES_A_TICK = 100
BANDS = ("1", "2", "3")


class Parker:
    """Works off a shard's lists of jobs to unpark and to sweep."""

    def __init__(self, frontier: Frontier) -> None:
        self._shards = frontier.shards
        self._jobs = frontier.jobs
        self._places: dict[tuple[int, str], tuple[int, str]] = {}

    async def tend(self, shard: int) -> None:
        """Do a bounded part of what is to be done; the rest at the next tick."""
        prefix = self._shards.prefixes[shard]
        for no in await self._shards.command("SRANDMEMBER", f"{prefix}unpark", 20):
            await self._unpark(shard, no.decode())
        doomed = await self._shards.command("SRANDMEMBER", f"{prefix}sweep", 20)
        for no in doomed:
            await self.sweep(shard, no.decode(), slices=max(5, SLICES_A_TICK // len(doomed)))

    async def _unpark(self, shard: int, no: str) -> None:
        for _ in range(SLICES_A_TICK):
            if int(await self._shards.run(shard, "unpark", no, SLICE)) == 0:
                return

    async def sweep(self, shard: int, no: str, *, slices: int = SLICES_A_TICK) -> bool:
        """Sweep a job's lane; empty what an ended job left. True when nothing is left to do."""
        prefix = self._shards.prefixes[shard]
        known = await self._jobs.known(await self._jobs.id_of(no))
        await self._shards.run(shard, "unpark", no, SLICE)
        if not await self._walk(shard, no, lane=known.job.lane, slices=slices):
            return False
        fields = await self._shards.fields(f"{prefix}j:{no}")
        ended = fields.get("s") == b"e"
        if ended and int(fields.get("qd", 0)) + int(fields.get("de", 0)) > 0:
            return False
        if ended and known.job.dedup is None and not await self._forget_seen(shard, no):
            return False
        await self._shards.command("SREM", f"{prefix}sweep", no)
        return True

    async def _walk(self, shard: int, no: str, *, lane: str, slices: int) -> bool:
        """Some slices of a walk over the lane's hosts and what is delayed; True at its end.

        A million hosts take minutes: leases must be reaped meanwhile, so the next tick goes on.
        """
        steps = (*(("sweep", band + lane) for band in BANDS), ("sweep_delayed",))
        step, at = self._places.pop((shard, no), (0, "0"))
        for _ in range(slices):
            at = (await self._shards.run(shard, *steps[step], at, SLICE)).decode()
            step += at == "0"
            if step == len(steps):
                return True
        self._places[shard, no] = (step, at)
        return False

    async def _forget_seen(self, shard: int, scope: str) -> bool:
        for _ in range(SLICES_A_TICK):
            if int(await self._shards.run(shard, "forget_seen", scope, SLICE)) == 0:
                return True
        return False
