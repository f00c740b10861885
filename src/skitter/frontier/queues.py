"""Where a job's requests wait: how many at which host, with which priorities.

Read through the lane's index, some hosts at a time, so that no call holds the server for long. The
crawl goes on meanwhile, so the sum is near the job's count and need not equal it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from skitter.frontier.frontier import Frontier

PAGE, MOST_HOSTS, MOST_PARKED = 200, 20_000, 5_000


@dataclass(slots=True)
class Waiting:
    """What waits at one host. highest and lowest are priorities of requests."""

    host: str
    total: int
    highest: int
    lowest: int

    def count(self, priority: int, length: int) -> None:
        """So many more, with that priority."""
        self.total += length
        self.highest = max(self.highest, priority)
        self.lowest = min(self.lowest, priority)


async def waiting_by_host(frontier: Frontier, job: str) -> dict[str, Waiting]:
    """What a job has queued, by host: of the first twenty thousand hosts, where there are more."""
    found: dict[str, Waiting] = {}
    async for host, priority, length in _queues(frontier, job):
        if host not in found:
            found[host] = Waiting(host, 0, priority, priority)
        found[host].count(priority, length)
    return found


async def _queues(frontier: Frontier, job: str) -> AsyncIterator[tuple[str, int, int]]:
    record = await frontier.jobs.record(job)
    for shard in record.shards:
        first, seen = 0, PAGE
        while seen == PAGE and first < MOST_HOSTS:
            number, *flat = await frontier.shards.run(
                shard, "queues", record.no, record.job.lane, first, PAGE, MOST_PARKED
            )
            for at in range(0, len(flat), 3):
                yield flat[at].decode(), int(float(flat[at + 1])), int(flat[at + 2])
            first, seen = first + PAGE, int(number)
