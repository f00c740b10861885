"""What happens to jobs, as server-sent events: of all of them, or of one with its progress."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Header, Request
from fastapi.responses import StreamingResponse

from skitter.api.asking import Served, Viewer, job_for, refusals
from skitter.api.kinds import JobId
from skitter.api.listeners import Listeners

router = APIRouter(prefix="/api/v1", tags=["events"])
MEDIA_TYPE = "text/event-stream"
LastEventId = Annotated[
    str | None,
    Header(
        alias="Last-Event-ID",
        pattern=r"^[0-9]{1,19}-[0-9]{1,19}$",
        description="The id of the last event that was seen: what came after it is sent first.",
    ),
]
_EXAMPLE = (
    "id: 1793866500123-0\nevent: ended\n"
    'data: {"kind": "ended", "job": "books", "outcome": "finished"}\n\n'
)


def _answers(*statuses: int) -> dict[int | str, dict[str, Any]]:
    content = {MEDIA_TYPE: {"schema": {"type": "string"}, "example": _EXAMPLE}}
    return refusals(*statuses) | {200: {"description": "Events, as they come.", "content": content}}


@router.get("/events", response_class=StreamingResponse, responses=_answers())
async def follow_events(
    request: Request, services: Served, who: Viewer, last: LastEventId = None
) -> StreamingResponse:
    """Follow what happens to all jobs: submitted, paused, resumed, reprioritised, ended."""
    # Whoever has the answer's head misses nothing from then on.
    after = last or await services.frontier.events.last_id()
    return _stream(request, who, after=after, job=None)


@router.get("/jobs/{job}/events", response_class=StreamingResponse, responses=_answers(404))
async def follow_job(
    job: JobId, request: Request, services: Served, who: Viewer, last: LastEventId = None
) -> StreamingResponse:
    """Follow one job: its events, and its figures when they change; it ends with the job."""
    after = last or await services.frontier.events.last_id()
    await job_for(services, who, job)
    return _stream(request, who, after=after, job=job)


def _stream(request: Request, who: Viewer, *, after: str, job: str | None) -> StreamingResponse:
    listeners: Listeners = request.app.state.listeners
    listeners.begin()
    chunks = listeners.follow(who, after=after, job=job)
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(chunks, media_type=MEDIA_TYPE, headers=headers)
