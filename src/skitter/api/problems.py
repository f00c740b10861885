"""Errors as problem details (RFC 9457): a type, a title, a status, what happened, what to do.

Every error that Skitter knows has its status here, by its own line or by its parent's.
"""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException

from skitter import access_errors as access
from skitter import errors as known
from skitter import service_errors as services
from skitter.api.rates import whole_seconds
from skitter.errors import SkitterError
from skitter.masking import mask_text
from skitter.orchestrator import errors as orchestrator

if TYPE_CHECKING:
    from starlette.types import Scope

log = structlog.get_logger(__name__)

MEDIA_TYPE = "application/problem+json"
RETRY_S = 5
STATUSES: dict[type[SkitterError], int] = {
    SkitterError: 500,
    known.SettingsError: 422,
    known.MissingExtra: 501,
    known.FrontierError: 500,
    known.ServerUnavailable: 503,
    known.ServerFull: 507,
    known.ServerEvicts: 503,
    known.ServerReadOnly: 503,
    known.BadRequest: 422,
    known.UnknownJob: 404,
    known.JobEnded: 409,
    known.JobInUse: 409,
    known.SinkError: 503,
    known.UnknownSink: 422,
    known.SinkRefused: 422,
    known.BadProxies: 422,
    known.BadIdentities: 422,
    known.BadScrapySetting: 422,
    known.SitemapError: 422,
    known.BadRecipe: 422,
    known.BadArgument: 422,
    known.BadSchema: 422,
    known.PageError: 422,
    services.NoJobToPushTo: 404,
    services.JobDiffers: 409,
    services.StoreError: 503,
    services.BadSubmission: 422,
    services.JobStands: 409,
    services.JobLive: 409,
    services.BadCursor: 422,
    services.NothingFailed: 409,
    services.ActionFailed: 502,
    orchestrator.BadSchedule: 422,
    orchestrator.UnknownSchedule: 404,
    orchestrator.ScheduleStands: 409,
    orchestrator.BadRules: 422,
    known.BadPlace: 422,
    known.NoHistory: 422,
    access.AccessError: 403,
    access.NoKey: 401,
    access.BadKey: 401,
    access.UnknownKey: 404,
    access.TooManyRequests: 429,
    access.ApiError: 400,
    access.BodyTooLong: 413,
    access.TooSlow: 503,
    access.TooManyAtOnce: 503,
    access.SameKeyOtherBody: 422,
    access.StillUnderWay: 409,
    access.AnswerNotKept: 409,
    access.UnknownLetter: 404,
    access.NotThere: 404,
    access.BadMessage: 422,
}


class Problem(BaseModel):
    """What went wrong, for machines by its type, for people by its detail and hint."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "type": "urn:skitter:unknown-job",
                    "title": "Unknown job",
                    "status": 404,
                    "detail": "There is no job books.",
                    "request_id": "0f3c2a9d1b7e4c55",
                }
            ]
        }
    )

    type: str = Field(description="A name for the kind of problem that does not change.")
    title: str = Field(description="The kind of problem in words.")
    status: int = Field(description="The HTTP status.")
    detail: str = Field(description="What happened this time.")
    hint: str | None = Field(None, description="What to do about it.")
    request_id: str | None = Field(None, description="The name of the request in the logs.")
    errors: list[dict[str, Any]] | None = Field(
        None, description="Where the request is wrong, and how."
    )


def status_of(error: SkitterError) -> int:
    """The HTTP status that says it best."""
    return next(STATUSES[kind] for kind in type(error).__mro__ if kind in STATUSES)


def answer(error: SkitterError, scope: Scope) -> JSONResponse:
    """An error that Skitter knows, as a response."""
    status = status_of(error)
    problem = Problem(
        type=f"urn:skitter:{'-'.join(_words(error))}",
        title=" ".join(_words(error)).capitalize(),
        status=status,
        detail=mask_text(error.summary),
        hint=mask_text(error.hint) or None,
        request_id=_request_id(scope),
    )
    if status >= 500:
        log.error("the request failed", error=str(error), status=status)
    return _response(problem, _headers(error, status))


def plain(status: int, detail: str, scope: Scope, **extra: Any) -> JSONResponse:
    """A problem that has no error of its own: a path that is not there, a method not allowed."""
    title = HTTPStatus(status).phrase
    problem = Problem(
        type="about:blank",
        title=title,
        status=status,
        detail=detail,
        request_id=_request_id(scope),
        **extra,
    )
    return _response(problem, {})


def install(app: FastAPI) -> None:
    """Let every error of the routes be a problem."""

    @app.exception_handler(SkitterError)
    async def _known(request: Request, error: SkitterError) -> JSONResponse:
        return answer(error, request.scope)

    @app.exception_handler(RequestValidationError)
    async def _invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        wrong = [_wrong(each) for each in error.errors()[:100]]
        detail = "; ".join(f"{each['where']}: {each['problem']}" for each in wrong[:5])
        return plain(422, mask_text(detail), request.scope, errors=wrong)

    @app.exception_handler(HTTPException)
    async def _other(request: Request, error: HTTPException) -> JSONResponse:
        response = plain(error.status_code, str(error.detail), request.scope)
        response.headers.update(error.headers or {})
        return response


def _wrong(each: dict[str, Any]) -> dict[str, Any]:
    """Where and what, without the value: it may be a secret, or long."""
    where = ".".join(str(part) for part in each["loc"])[:200]
    return {"where": where, "problem": str(each["msg"])[:500]}


def _words(error: SkitterError) -> list[str]:
    return [word.lower() for word in re.findall(r"[A-Z][a-z]+", type(error).__name__)]


def _headers(error: SkitterError, status: int) -> dict[str, str]:
    if status == 401:
        return {"WWW-Authenticate": 'Bearer realm="skitter"'}
    if status in (429, 503):
        return {"Retry-After": str(whole_seconds(error.fields.get("retry_s", RETRY_S)))}
    return {}


def _response(problem: Problem, headers: dict[str, str]) -> JSONResponse:
    content = problem.model_dump(exclude_none=True)
    return JSONResponse(content, problem.status, headers, media_type=MEDIA_TYPE)


def _request_id(scope: Scope) -> str | None:
    found = scope.get("state", {}).get("request_id")
    return str(found) if found else None
