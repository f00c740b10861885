"""Many at once, as lines: seeds of a job, and jobs. What comes is taken as it comes."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request
from pydantic import ConfigDict, ValidationError

from skitter.access_errors import BadLines
from skitter.api.asking import Operator, Served, job_for, refusals
from skitter.api.job_models import JobOut, SubmissionIn
from skitter.api.jobs import job_out
from skitter.api.kinds import JobId, Told
from skitter.api.lines import MEDIA_TYPE, lines_of
from skitter.errors import SkitterError
from skitter.masking import mask_text

if TYPE_CHECKING:
    from skitter.access import Principal
    from skitter.jobs import Tally
    from skitter.jobs.submission import Submission
    from skitter.services import Services

router = APIRouter(prefix="/api/v1/jobs", tags=["jobs"])
Lines = AsyncGenerator[tuple[int, str], None]
MOST_JOBS, FIRST_SEEDS = 10_000, 1_000
_EXAMPLE = 'https://books.example/1\n{"url": "https://books.example/2", "priority": 5}\n'
_JOBS = '{"spider": "link", "seeds": ["https://books.example/"]}\n{"spider": "quotes"}\n'
_SEEDED = (
    '{"spider": "link", "max_pages": 1000}\nhttps://books.example/1\nhttps://books.example/2\n'
)


class RefusedOut(Told):
    """Seeds that were refused for one reason, and the first of them."""

    reason: str
    count: int
    examples: list[str]


class TallyOut(Told):
    """What became of the seeds."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "read": 3,
                    "new": 1,
                    "known": 1,
                    "refused": [
                        {"reason": "domain", "count": 1, "examples": ["https://other.example/"]}
                    ],
                }
            ]
        }
    )

    read: int
    new: int
    known: int
    refused: list[RefusedOut]


def _body(example: str) -> dict[str, Any]:
    content = {MEDIA_TYPE: {"schema": {"type": "string"}, "example": example}}
    return {"requestBody": {"required": True, "content": content}}


@router.post("/{job}/seeds", responses=refusals(404, 409), openapi_extra=_body(_EXAMPLE))
async def add_seeds(job: JobId, request: Request, services: Served, who: Operator) -> TallyOut:
    """Add URLs to a live job: one on each line, as it stands or as a JSON object.

    The body is read as it comes, so it may hold millions; the job is held open meanwhile. A URL
    that comes again counts as known, so a request that was cut off may be sent anew.
    """
    await job_for(services, who, job)
    tally = await services.jobs.add_seeds(job, _texts(request))
    return _tally_out(tally)


class LineOut(Told):
    """What became of one line: the job's id, or what is wrong with it."""

    line: int
    job: str | None = None
    error: str | None = None


class BulkOut(Told):
    """What became of each line."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "submitted": 1,
                    "refused": 1,
                    "lines": [
                        {"line": 1, "job": "link-261116-081500-a1b2c3", "error": None},
                        {"line": 2, "job": None, "error": "spider: Field required"},
                    ],
                }
            ]
        }
    )

    submitted: int
    refused: int
    lines: list[LineOut]


class SeededOut(Told):
    """The job, and what became of its seeds."""

    job: JobOut
    seeds: TallyOut


@router.post("/bulk", responses=refusals(), openapi_extra=_body(_JOBS))
async def submit_jobs(request: Request, services: Served, who: Operator) -> BulkOut:
    """Submit up to 10,000 jobs, one on each line, each by itself: one may fail, the rest go on."""
    found: list[LineOut] = []
    async for number, line in lines_of(request):
        if len(found) >= MOST_JOBS:
            raise BadLines(line=number, problem=f"is past the {MOST_JOBS:,} that are taken at once")
        found.append(LineOut(line=number, **await _submit(line, services, who)))
    submitted = sum(1 for each in found if each.job)
    return BulkOut(submitted=submitted, refused=len(found) - submitted, lines=found)


@router.post("/seeded", status_code=201, responses=refusals(409), openapi_extra=_body(_SEEDED))
async def submit_seeded(request: Request, services: Served, who: Operator) -> SeededOut:
    """Submit one job with any number of seeds: the job on the first line, then a URL on each.

    The body is read as it comes, and the job is crawled meanwhile.
    """
    async with aclosing(lines_of(request)) as lines:
        submission = await _first(lines, services, who)
        some = [line async for _, line in _up_to(lines, FIRST_SEEDS)]
        if not some:
            raise BadLines(line=2, problem="is missing: there is no seed")
        job = await services.jobs.submit(replace(submission, seeds=tuple(some)))
        tally = await services.jobs.add_seeds(job.id, _rest(some, lines))
    return SeededOut(job=job_out(await services.jobs.show(job.id)), seeds=_tally_out(tally))


async def _first(lines: Lines, services: Services, who: Principal) -> Submission:
    """The submission on the first line, without seeds of its own."""
    async for _, line in lines:
        try:
            given = SubmissionIn.model_validate_json(line)
        except ValidationError as error:
            raise BadLines(line=1, problem=f"is no job: {_problem(error)}") from error
        return given.submission(who, services.settings)
    raise BadLines(line=1, problem="is missing: there is no job")


async def _up_to(lines: Lines, count: int) -> AsyncGenerator[tuple[int, str], None]:
    taken = 0
    while taken < count:
        try:
            yield await anext(lines)
        except StopAsyncIteration:
            return
        taken += 1


async def _rest(some: list[str], lines: Lines) -> AsyncIterator[str]:
    """The first seeds too: they are known by now, and the tally is to count them all."""
    for line in some:
        yield line
    async for _, line in lines:
        yield line


async def _texts(request: Request) -> AsyncIterator[str]:
    async for _, line in lines_of(request):
        yield line


async def _submit(line: str, services: Services, who: Principal) -> dict[str, str]:
    try:
        given = SubmissionIn.model_validate_json(line)
        job = await services.jobs.submit(given.submission(who, services.settings))
    except ValidationError as error:
        return {"error": _problem(error)}
    except SkitterError as error:
        return {"error": mask_text(error.summary)}
    return {"job": job.id}


def _problem(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}".removeprefix(": ")


def _tally_out(tally: Tally) -> TallyOut:
    refused = [
        RefusedOut(
            reason=reason, count=found.count, examples=[f"{a} {b}" for a, b in found.examples]
        )
        for reason, found in tally.refused.items()
    ]
    return TallyOut(read=tally.read, new=tally.new, known=tally.known, refused=refused)
