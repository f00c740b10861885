"""Which job a `scrapy crawl` works on: the one it is told, the lane's live one, or a new one.

New jobs are numbered: `books-1`, `books-2`, and with arguments the lane is part of the name. Two
workers that start at the same moment come to the same number, and to submit twice is to submit
once, so they share the job. Whoever joins queues the job's start request too: it is known by then,
or the one who submitted died before it could.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import structlog

from skitter.errors import UnknownJob
from skitter.frontier import Job, Request, lane_of

if TYPE_CHECKING:
    from skitter.frontier import Frontier
    from skitter.frontier.live_jobs import JobRecord

log = structlog.get_logger(__name__)

HOLD_MS = 30_000


async def join(frontier: Frontier, job: Job, *, start: bool = True) -> JobRecord:
    """Submit the job unless it stands, and queue its start request; its record as it then is.

    A job without an id is joined by its lane.
    """
    if not job.id:
        found = await find_live(frontier, job.lane)
        job = found.job if found else await _numbered(frontier, job)
    record = await frontier.jobs.submit(job)
    if start and record.state != "ended":
        await frontier.add([Request.start(job.id)])
    await frontier.jobs.release_hold(job.id)
    return record


async def find_live(frontier: Frontier, lane: str) -> JobRecord | None:
    """The oldest live job of a lane."""
    found: list[JobRecord] = []
    for name in await frontier.jobs.live():
        try:
            if (await frontier.jobs.known(name)).job.lane == lane:
                found.append(await frontier.jobs.record(name))
        except UnknownJob:
            continue  # forgotten meanwhile
    live = [record for record in found if record.state != "ended"]
    return min(live, key=lambda record: record.created_ms, default=None)


async def job_for(frontier: Frontier, spider: str, *, asked_by: str) -> str:
    """A live job of another spider, to which a request is addressed; submitted if none stands.

    It stays open for HOLD_MS at least: time to add the request.
    """
    found = await find_live(frontier, lane_of(spider))
    if found and await frontier.jobs.hold(found.job.id, f"requests of {asked_by}", ms=HOLD_MS):
        return found.job.id
    for number in range(1, 10_000):
        name = f"{asked_by}.{spider}" if number == 1 else f"{asked_by}.{spider}.{number}"
        record = await frontier.jobs.submit(Job(id=name, spider=spider))
        if record.state != "ended":
            log.info("job submitted for a request to another spider", job=name, spider=spider)
            return name
    raise UnknownJob(job=f"{asked_by}.{spider}")


async def _numbered(frontier: Frontier, job: Job) -> Job:
    """The same job under the first number that is free or live."""
    prefix = f"{job.spider}-{job.lane}" if job.args else job.spider
    low, high = 0, 1
    while await _ended(frontier, f"{prefix}-{high}"):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        if await _ended(frontier, f"{prefix}-{middle}"):
            low = middle
        else:
            high = middle
    return _named(job, f"{prefix}-{high}")


async def _ended(frontier: Frontier, name: str) -> bool:
    try:
        return (await frontier.jobs.record(name)).state == "ended"
    except UnknownJob:
        return False


def _named(job: Job, name: str) -> Job:
    fields = {field: getattr(job, field) for field in job.__dataclass_fields__}
    return Job(**fields | {"id": name})
