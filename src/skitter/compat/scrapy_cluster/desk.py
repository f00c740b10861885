"""Answers Scrapy Cluster's messages in its words: what waits, where; stops; paces; bans.

Domains are registered domains, as its queues were. A pace is kept for a host, or for a registered
domain with all its hosts where politeness.unit says so.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from skitter.access_errors import BadMessage
from skitter.compat.scrapy_cluster.cluster_stats import ClusterStats
from skitter.compat.scrapy_cluster.crawls import DEFAULT_PROJECT, Crawls, name_of
from skitter.compat.scrapy_cluster.messages import Action, Crawl, Domain, Message, Stats
from skitter.frontier import HostPolicy
from skitter.frontier.queues import waiting_by_host
from skitter.frontier.urls import registered_domain

if TYPE_CHECKING:
    from collections.abc import Callable

    from skitter.compat.scrapy_cluster.counts import FeedCounts
    from skitter.frontier import Frontier
    from skitter.jobs.service import Jobs
    from skitter.jobs.view import JobView

_EXPIRED = {"stop": ("stop", "total_purged"), "expire": ("expired", "total_expired")}


class Desk:
    """Takes a message, does what it asks, and gives its answer; a crawl request has none."""

    def __init__(
        self,
        jobs: Jobs,
        frontier: Frontier,
        *,
        counts: FeedCounts,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._jobs = jobs
        self._frontier = frontier
        self._now = now
        self._crawls = Crawls(jobs, now=now)
        self._stats = ClusterStats(jobs, frontier, counts=counts)

    async def handle(
        self, message: Message, *, project: str = DEFAULT_PROJECT
    ) -> dict[str, Any] | None:
        """The answer to a message; raises BadMessage where it cannot be done."""
        if isinstance(message, Crawl):
            await self._crawls.feed(message, project=project)
            return None
        if isinstance(message, Domain):
            answer = await self._set_domain(message)
        elif isinstance(message, Stats):
            answer = {"stats": message.stats, **await self._stats.tell(message.stats)}
        elif isinstance(message, Action):
            answer = await self._act(message, project)
        else:
            raise BadMessage(reason="there is nothing to do for it")
        return answer | {
            "appid": message.appid,
            "uuid": message.uuid,
            "server_time": int(self._now()),
        }

    async def _act(self, action: Action, project: str) -> dict[str, Any]:
        if action.action != "info":
            return await self._end(action, project)
        if action.crawlid is None:
            return await self._app(action, project)
        job = await self._live(action, project)
        domains = await self._domains(job) if job else {}
        answer: dict[str, Any] = {
            "spiderid": action.spiderid,
            "crawlid": action.crawlid,
            "total_pending": _pending(job) if job else 0,
            "total_domains": len(domains),
            "domains": domains,
        }
        return answer | (_expires(job) if job else {})

    async def _app(self, action: Action, project: str) -> dict[str, Any]:
        """What all live crawls of an app have waiting."""
        crawls: dict[str, Any] = {}
        for job in await self._crawls.of_app(action.appid, action.spiderid, project=project):
            domains = await self._domains(job)
            crawls[job.labels["crawlid"]] = {
                "total": _pending(job),
                "distinct_domains": len(domains),
                "domains": domains,
            } | _expires(job)
        names = {domain for crawl in crawls.values() for domain in crawl["domains"]}
        return {
            "spiderid": action.spiderid,
            "total_pending": sum(crawl["total"] for crawl in crawls.values()),
            "total_domains": len(names),
            "total_crawlids": len(crawls),
            "crawlids": crawls,
        }

    async def _end(self, action: Action, project: str) -> dict[str, Any]:
        """Stop a crawl, or say that it has expired; how many requests that threw away."""
        job = await self._live(action, project)
        if job and action.action == "stop":
            await self._jobs.stop(job.id)
        elif job:
            await self._frontier.jobs.stop(job.id, outcome="expired")
        word, total = _EXPIRED[action.action]
        return {
            "action": word,
            "spiderid": action.spiderid,
            "crawlid": action.crawlid,
            total: _pending(job) if job else 0,
        }

    async def _live(self, action: Action, project: str) -> JobView | None:
        name = name_of(action.spiderid, action.appid, action.crawlid or "", project=project)
        job = await self._crawls.newest(name, project=project)
        return job if job and job.state != "ended" else None

    async def _domains(self, job: JobView) -> dict[str, dict[str, int]]:
        """What waits by registered domain, with the priorities that it has in the whole."""
        found: dict[str, dict[str, int]] = {}
        for host, waiting in (await waiting_by_host(self._frontier, job.id)).items():
            high, low = job.priority + waiting.highest, job.priority + waiting.lowest
            domain = registered_domain(host)
            entry = found.setdefault(
                domain, {"total": 0, "high_priority": high, "low_priority": low}
            )
            entry["total"] += waiting.total
            entry["high_priority"] = max(entry["high_priority"], high)
            entry["low_priority"] = min(entry["low_priority"], low)
        return found

    async def _set_domain(self, message: Domain) -> dict[str, Any]:
        hosts, domain = self._frontier.hosts, message.domain
        if message.action == "domain-update":
            await hosts.set_policy(domain, HostPolicy(delay_ms=message.delay_ms))
        elif message.action == "domain-remove":
            blocked = (await hosts.state(domain)).blocked
            await hosts.clear_policy(domain)
            if blocked:  # to clear a pace is not to lift a ban
                await hosts.set_policy(domain, HostPolicy(blocked=True))
        else:
            ban = message.action == "blacklist-update"
            await hosts.set_policy(domain, HostPolicy(blocked=ban))
        return {"action": message.action, "domain": domain}


def _pending(job: JobView) -> int:
    return job.figures.queued + job.figures.delayed


def _expires(job: JobView) -> dict[str, str]:
    """A text, as Scrapy Cluster has it."""
    return {"expires": str(int(job.expires_at.timestamp()))} if job.expires_at else {}
