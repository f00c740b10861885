"""Jobs: submit, list, show, pause, resume, stop, reprioritise, clone, retry, delete, peek."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Response
from pydantic import ConfigDict

from skitter.api.asking import Operator, Served, Viewer, job_for, project_for, refusals
from skitter.api.job_models import (
    CountOut,
    EditsIn,
    JobOut,
    JobPageOut,
    PriorityIn,
    SubmissionIn,
    check_rights,
)
from skitter.api.kinds import Cursor, Filter, JobId, Limit, Told
from skitter.api.requests import RequestOut, request_out
from skitter.api.times import aware
from skitter.jobs.view import JobView
from skitter.masking import mask_value

router = APIRouter(prefix="/api/v1/jobs", tags=["jobs"], responses=refusals())
Label = Annotated[
    str | None,
    Query(
        max_length=300,
        pattern=r"^[^=\x00]{1,64}=[^\x00]{1,200}$",
        description="NAME=VALUE: only jobs with this label.",
    ),
]
State = Literal["queued", "running", "paused", "ended"]


async def _wanted(  # noqa: PLR0913, PLR0917 - each is a parameter of its own
    who: Viewer,
    state: State | None = None,
    outcome: Filter = None,
    spider: Filter = None,
    project: Filter = None,
    label: Label = None,
    text: Filter = None,
    since: datetime | None = None,
    until: datetime | None = None,
) -> dict[str, Any]:
    """The filters of a listing, from query parameters."""
    name, _, value = (label or "").partition("=")
    return {
        "state": state,
        "outcome": outcome,
        "spider": spider,
        "project": project_for(who, project),
        "label": (name, value) if label else None,
        "text": text,
        "since": aware(since),
        "until": aware(until),
    }


Wanted = Annotated[dict[str, Any], Depends(_wanted)]


class PeekOut(Told):
    """What is upcoming."""

    requests: list[RequestOut]


class ErrorsOut(Told):
    """What went wrong in the job, by reason and error, counted."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"errors": {"timeout: 30 s passed": 3}}]}
    )

    errors: dict[str, int]


@router.post("", status_code=201, responses=refusals(409))
async def submit_job(given: SubmissionIn, services: Served, who: Operator) -> JobOut:
    """Submit a job. Repeat it safely with an `Idempotency-Key` header."""
    submission = given.submission(who, services.settings)
    return job_out(await services.jobs.submit(submission))


@router.get("")
async def list_jobs(
    services: Served,
    wanted: Wanted,
    after: Cursor = None,
    limit: Limit = 50,
) -> JobPageOut:
    """List jobs, the newest first, page by page."""
    page = await services.jobs.list(**wanted, after=after, limit=limit)
    return JobPageOut(jobs=[job_out(job, whole=False) for job in page.jobs], next=page.next)


@router.get("/count")
async def count_jobs(services: Served, wanted: Wanted) -> CountOut:
    """How many jobs fit the filters. With a label, text or times, counting stops at 1,000."""
    count = await services.jobs.count(**wanted)
    return CountOut(count=count.number, at_least=count.at_least)


@router.get("/{job}", responses=refusals(404))
async def show_job(job: JobId, services: Served, who: Viewer) -> JobOut:
    """Show a job as it is now."""
    return job_out(await job_for(services, who, job))


@router.post("/{job}/pause", responses=refusals(404, 409))
async def pause_job(job: JobId, services: Served, who: Operator) -> JobOut:
    """Let nothing more be asked for the job; what is under way is finished."""
    await job_for(services, who, job)
    return job_out(await services.jobs.pause(job))


@router.post("/{job}/resume", responses=refusals(404, 409))
async def resume_job(job: JobId, services: Served, who: Operator) -> JobOut:
    """Go on with a paused job."""
    await job_for(services, who, job)
    return job_out(await services.jobs.resume(job))


@router.post("/{job}/stop", responses=refusals(404, 409))
async def stop_job(job: JobId, services: Served, who: Operator) -> JobOut:
    """End the job now, as cancelled; what is queued is thrown away."""
    await job_for(services, who, job)
    return job_out(await services.jobs.stop(job))


@router.post("/{job}/priority", responses=refusals(404, 409))
async def reprioritise_job(
    job: JobId, given: PriorityIn, services: Served, who: Operator
) -> JobOut:
    """Give all that the job has queued another priority."""
    await job_for(services, who, job)
    return job_out(await services.jobs.reprioritise(job, given.priority))


@router.post("/{job}/clone", status_code=201, responses=refusals(404, 409))
async def clone_job(job: JobId, given: EditsIn, services: Served, who: Operator) -> JobOut:
    """Submit a job like this one, with some things different."""
    original = await job_for(services, who, job)
    edits = given.model_dump(exclude_none=True)
    if "seeds" in edits:
        edits["seeds"] = tuple(edits["seeds"])
    if original.submission:
        check_rights(original.submission.to_json(), who, services.settings)
    return job_out(await services.jobs.clone(job, **edits))


@router.post("/{job}/retry", responses=refusals(404, 409))
async def retry_job(job: JobId, services: Served, who: Operator) -> JobOut:
    """Try only what failed again: in the job while it is live, in a new one once it has ended."""
    await job_for(services, who, job)
    return job_out(await services.jobs.retry_failed(job))


@router.delete("/{job}", status_code=204, responses=refusals(404, 409))
async def delete_job(job: JobId, services: Served, who: Operator) -> Response:
    """Forget an ended job and its history; its items stay where they are."""
    await job_for(services, who, job)
    await services.jobs.delete(job)
    return Response(status_code=204)


@router.get("/{job}/upcoming", responses=refusals(404, 409))
async def peek_job(job: JobId, services: Served, who: Viewer, limit: Limit = 20) -> PeekOut:
    """Look at what is upcoming for the job."""
    await job_for(services, who, job)
    found = await services.jobs.peek(job, limit=limit)
    return PeekOut(requests=[request_out(request) for request in found])


@router.get("/{job}/errors", responses=refusals(404))
async def show_errors(job: JobId, services: Served, who: Viewer) -> ErrorsOut:
    """What went wrong in the job, counted."""
    await job_for(services, who, job)
    return ErrorsOut(errors=await services.jobs.errors(job))


def job_out(view: JobView, *, whole: bool = True) -> JobOut:
    """A job as it is shown: passwords in its sinks and webhooks are masked."""
    fields = view.to_json()
    submission = fields.pop("submission", None)
    if whole and submission:
        fields["submission"] = mask_value(submission)
    return JobOut.model_validate(fields)
