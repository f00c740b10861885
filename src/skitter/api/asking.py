"""What routes ask for: the services, and who asks, with the role that it takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from fastapi import Depends, Request

from skitter.access import Principal, Role
from skitter.access_errors import NotAllowed, OtherProject
from skitter.api.problems import MEDIA_TYPE, Problem
from skitter.errors import UnknownJob
from skitter.services import Services

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from skitter.jobs.view import JobView

_MEANINGS = {
    400: "The request cannot be read.",
    401: "There is no key, or not a good one.",
    403: "The key's role or project does not allow it.",
    404: "There is no such thing, or not for this key.",
    409: "It does not fit the state that things are in.",
    413: "The body is too long.",
    422: "Something in the request is wrong; `errors` says what.",
    429: "Too many requests; Retry-After says when to come back.",
    501: "It needs a package that is not installed.",
    503: "A server that it needs is away, or there is too much to do.",
    507: "The server is out of memory.",
}
ALWAYS = (400, 401, 403, 413, 422, 429, 503)


def refusals(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The answers with which a route may refuse, for its documentation."""
    return {
        status: {
            "model": Problem,
            "description": _MEANINGS[status],
            "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
        }
        for status in sorted({*ALWAYS, *statuses})
    }


# All of these are async, although they wait for nothing: FastAPI runs others in threads.
async def _services(request: Request) -> Services:
    services: Services = request.app.state.services
    return services


def _needing(role: Role, *, everywhere: bool = False) -> Callable[[Request], Awaitable[Principal]]:
    """everywhere: it concerns all projects, so that a key for one of them is not enough."""

    async def check(request: Request) -> Principal:
        who: Principal = request.state.principal
        if not who.role.covers(role):
            raise NotAllowed(key=who.key, role=who.role.value, needed=role.value)
        if everywhere and who.project is not None:
            reason = "it is shared by all projects"
            raise OtherProject(key=who.key, project=who.project, reason=reason)
        return who

    check.needs = f"{role.value} of all projects" if everywhere else role.value  # type: ignore[attr-defined]
    return check


Served = Annotated[Services, Depends(_services)]
Viewer = Annotated[Principal, Depends(_needing(Role.VIEWER))]
Operator = Annotated[Principal, Depends(_needing(Role.OPERATOR))]
WideViewer = Annotated[Principal, Depends(_needing(Role.VIEWER, everywhere=True))]
WideOperator = Annotated[Principal, Depends(_needing(Role.OPERATOR, everywhere=True))]
Admin = Annotated[Principal, Depends(_needing(Role.ADMIN, everywhere=True))]


async def job_for(services: Services, who: Principal, job: str) -> JobView:
    """A job, if it is there for whoever asks: another project's is not."""
    view = await services.jobs.show(job)
    if not who.sees(view.project):
        raise UnknownJob(job=job)
    return view


def project_for(who: Principal, wanted: str | None) -> str | None:
    """The project that a listing is bounded to."""
    if wanted is not None and not who.sees(wanted):
        raise OtherProject(key=who.key, project=who.project, reason=f"that is {wanted}")
    return wanted if wanted is not None else who.project
