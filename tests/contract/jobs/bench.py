"""Jobs, with a worker's hands to do their work."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from skitter.frontier import Caretaker, Fetch, Settlement
from skitter.jobs.submission import Submission

if TYPE_CHECKING:
    from skitter.frontier import Frontier
    from skitter.jobs.service import Jobs
    from skitter.jobs.view import JobView
    from skitter.store import Store


@dataclass
class Bench:
    frontier: Frontier
    store: Store
    jobs: Jobs
    _caretaker: Caretaker | None = None

    async def submit(self, **fields: Any) -> JobView:
        named: dict[str, Any] = {"spider": "books", "robots": False} | fields
        return await self.jobs.submit(Submission(**named))

    async def work(self, job: str, *, bury: str = "", **figures: int) -> int:
        """Do all that is queued of a job; how much that was. URLs with `bury` in them fail."""
        lane, done = (await self.frontier.jobs.record(job)).job.lane, 0
        self.frontier._ask_after.clear()
        while leases := (await self.frontier.lease([lane], count=50)).leases:
            for lease in leases:
                failed = bool(bury) and bury in lease.request.url
                fetch = Fetch(ago_ms=1, latency_ms=1, status=500 if failed else 200)
                settled = Settlement(
                    lease,
                    "bury" if failed else "done",
                    fetch=fetch,
                    page=not failed,
                    reason="500" if failed else "",
                    error="it failed" if failed else "",
                    figures=figures,
                )
                assert await self.frontier.settle([settled]) == [True]
                done += 1
            self.frontier._ask_after.clear()
        return done

    def leap(self, seconds: float) -> None:
        """Let the frontier's time go on."""
        shards = self.frontier.shards
        now_ms = shards.clock() if shards.clock else time.time() * 1000
        shards.clock = lambda: now_ms + seconds * 1000

    async def tidy(self) -> None:
        """One round of the caretakers: what is complete ends."""
        if self._caretaker is None:
            self._caretaker = Caretaker(self.frontier)
        await self._caretaker.tend()
