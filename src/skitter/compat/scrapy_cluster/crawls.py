"""Crawl requests → jobs: one job for each spider, app and crawl id, found again by its name.

The first request of a crawl submits the job, with its bounds; the next ones add their URL to it. A
crawl whose job has ended begins anew, as a job with a number behind its name. The priority of the
first is the job's, so that it holds for the links too; a later URL's is counted from it.
"""

from __future__ import annotations

import json
import re
import time
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from scrapy.linkextractors import IGNORED_EXTENSIONS

from skitter.access_errors import BadMessage
from skitter.errors import BadRequest, JobEnded
from skitter.frontier import Scope
from skitter.frontier.urls import parse
from skitter.jobs.submission import Submission
from skitter.service_errors import JobStands

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from skitter.compat.scrapy_cluster.messages import Crawl
    from skitter.jobs.service import Jobs
    from skitter.jobs.view import JobView

CRAWL = "crawl"
DEFAULT_PROJECT = "default"
_MOST_TRIES = 5


def name_of(spiderid: str, appid: str, crawlid: str, *, project: str = DEFAULT_PROJECT) -> str:
    """The name of a crawl's job: readable, and never that of another crawl's."""
    parts = [spiderid, appid, crawlid]
    words = [re.sub(r"[^A-Za-z0-9_-]", "-", part)[:32] for part in parts]
    if words == parts and project == DEFAULT_PROJECT:
        return ".".join(words)
    digest = blake2b("\0".join([project, *parts]).encode(), digest_size=6).hexdigest()
    return ".".join([*words, digest])


class Crawls:
    """Makes jobs of crawl requests, and finds them."""

    def __init__(self, jobs: Jobs, *, now: Callable[[], float] = time.time) -> None:
        self._jobs = jobs
        self._now = now

    async def feed(self, crawl: Crawl, *, project: str = DEFAULT_PROJECT) -> JobView:
        """Crawl a URL; raises BadMessage where the job does not take it."""
        name = name_of(crawl.spiderid, crawl.appid, crawl.crawlid, project=project)
        for _ in range(_MOST_TRIES):
            newest = await self.newest(name, project=project)
            try:
                if newest is not None and newest.state != "ended":
                    return await self._add(newest, crawl)
                return await self._submit(crawl, _next(name, newest), name=name, project=project)
            except (JobEnded, JobStands):
                continue  # it ended, or another server submitted it, a moment ago
        raise BadMessage(reason="its crawl ends and begins all the time; try again")

    async def newest(self, name: str, *, project: str) -> JobView | None:
        """The last job of a crawl."""
        page = await self._jobs.list(label=(CRAWL, name), project=project, limit=1)
        return await self._jobs.show(page.jobs[0].id) if page.jobs else None

    async def of_app(self, appid: str, spiderid: str, *, project: str) -> list[JobView]:
        """The live jobs of an app with one spider: up to a thousand."""
        page = await self._jobs.list(label=("appid", appid), project=project, limit=1_000)
        live = [job for job in page.jobs if job.state != "ended"]
        return [job for job in live if job.labels.get("spiderid") == spiderid]

    async def _submit(self, crawl: Crawl, job: str, *, name: str, project: str) -> JobView:
        submission = submission_of(crawl, job=job, name=name, project=project, now=self._now())
        _check(crawl, submission.scope)
        return await self._jobs.submit(submission)

    async def _add(self, job: JobView, crawl: Crawl) -> JobView:
        seed = _seed(crawl, priority=job.priority, attrs=job.attrs)
        tally = await self._jobs.add_seeds(job.id, _one(seed))
        if tally.refused:
            raise BadMessage(reason=f"the URL is refused: {next(iter(tally.refused))}")
        return job


def submission_of(crawl: Crawl, *, job: str, name: str, project: str, now: float) -> Submission:
    """The job of a crawl's first request."""
    if crawl.expires and crawl.expires <= now:
        raise BadMessage(reason="expires: this time has passed")
    extensions = IGNORED_EXTENSIONS if crawl.deny_extensions is None else crawl.deny_extensions
    labels = {"appid": crawl.appid, "crawlid": crawl.crawlid, "spiderid": crawl.spiderid}
    return Submission(
        id=job,
        spider=crawl.spiderid,
        seeds=(_seed(crawl, priority=crawl.priority, attrs=crawl.attrs),),
        args=_args(crawl),
        scope=Scope(
            allowed_domains=tuple(domain.lower() for domain in crawl.allowed_domains),
            allow=crawl.allow_regex,
            deny=crawl.deny_regex,
            deny_extensions=tuple(extensions),
        ),
        priority=crawl.priority,
        max_depth=crawl.maxdepth,
        max_per_host=crawl.domain_max_pages or None,
        expires_s=crawl.expires - now if crawl.expires else None,
        attrs=crawl.attrs,
        labels=labels | {CRAWL: name},
        project=project,
    )


def _args(crawl: Crawl) -> dict[str, str]:
    """As Scrapy Cluster's own spiders do, ours go wherever links lead, unless domains are named."""
    if crawl.spiderid == "link":
        return {"offsite": "1", "depth": str(crawl.maxdepth)}
    return {"offsite": "1"} if crawl.spiderid == "wandering" else {}


def _check(crawl: Crawl, scope: Scope) -> None:
    """A job whose only URL is refused would end with nothing done, and nobody told."""
    try:
        address = parse(crawl.url)
    except BadRequest as error:
        raise BadMessage(reason=f"url: {error.reason}") from error
    if reason := scope.refuses(address.url, address.host):
        raise BadMessage(reason=f"url: it is out of the crawl's own scope ({reason})")


def _seed(crawl: Crawl, *, priority: int, attrs: dict[str, Any]) -> str:
    """The URL as a line of a seed file, with what differs from its job's."""
    headers = {"User-Agent": crawl.useragent, "Cookie": crawl.cookie}
    seed: dict[str, Any] = {
        "url": crawl.url,
        "priority": crawl.priority - priority,
        "headers": {name: value for name, value in headers.items() if value},
    }
    if crawl.attrs != attrs:
        seed["meta"] = {"attrs": crawl.attrs}
    return json.dumps(seed)


def _next(name: str, newest: JobView | None) -> str:
    if newest is None:
        return name
    number = newest.id.removeprefix(f"{name}:")
    return f"{name}:{int(number) + 1 if number.isdigit() else 2}"


async def _one(line: str) -> AsyncIterator[str]:
    yield line
