"""What comes before a crawler joins its job, as scrapy-redis's settings say.

SCHEDULER_FLUSH_ON_START begins a new job, and forgets what was seen, unless other workers are at
the old one: there it would throw their work away. A spider that waits for start URLs holds a job
that stands before it joins it, so that it does not end in between.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import structlog

from skitter.compat.scrapy_redis.connection import async_from_settings
from skitter.compat.scrapy_redis.holding import START_URLS, Hold
from skitter.compat.scrapy_redis.leftovers import check_leftovers
from skitter.engine.joining import find_live

if TYPE_CHECKING:
    from skitter.compat.scrapy_redis.options import Options
    from skitter.engine.crawl import Crawl
    from skitter.frontier.live_jobs import JobRecord

log = structlog.get_logger(__name__)

YOUNG_MS = 60_000
BUCKETS = 200


class Preparation:
    """Of one crawler; `feeds` says that its spider reads start URLs."""

    def __init__(self, crawl: Crawl, options: Options, *, feeds: bool) -> None:
        self._crawl = crawl
        self._options = options
        self._feeds = feeds

    async def run(self, *, own: bool) -> None:
        """Look for what scrapy-redis left; make a clean start or keep what stands.

        own: the crawler is there for one job, and joins it next.
        """
        async with async_from_settings(self._crawl.crawler.settings) as client:
            await check_leftovers(client, self._options)
        if own and self._options.flush:
            await self._begin_anew()
        if own and self._feeds:
            await self._hold_standing()

    async def _begin_anew(self) -> None:
        frontier, lane = self._crawl.process.frontier, self._crawl.lane
        if self._crawl.crawler.settings.get("SKITTER_JOB"):
            log.warning("nothing is flushed: SKITTER_JOB names the job to work on")
            return
        while found := await find_live(frontier, lane):
            if await self._in_use(found):
                log.warning("nothing is flushed: the job is in use", job=found.job.id)
                return
            log.info("job stopped, to begin anew", job=found.job.id)
            await frontier.jobs.stop(found.job.id)
        await self._forget_seen()

    async def _in_use(self, found: JobRecord) -> bool:
        """Whether others work on a job, or have just begun it."""
        age_ms = time.time() * 1000 - found.created_ms
        stats = await self._crawl.process.frontier.stats.job(found.job.id)
        return stats.leased > 0 or abs(age_ms) < YOUNG_MS

    async def _forget_seen(self) -> None:
        """Forget a set of seen URLs that outlives its jobs."""
        name = self._crawl.tuning.job.get("dedup")
        shards: Any = self._crawl.process.frontier.shards
        for shard in range(shards.count if name else 0):
            while int(await shards.run(shard, "forget_seen", f"@{name}", BUCKETS)):
                continue

    async def _hold_standing(self) -> None:
        frontier = self._crawl.process.frontier
        found = await find_live(frontier, self._crawl.lane)
        if found:
            await Hold(frontier, START_URLS).keep(found.job.id)
