"""Schedules: jobs that are submitted again and again, by cron."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query, Response
from pydantic import ConfigDict, Field

from skitter.access import Principal
from skitter.api.asking import Operator, Served, Viewer, refusals
from skitter.api.job_models import SubmissionIn, check_rights
from skitter.api.kinds import Given, Limit, Told, Word
from skitter.api.times import aware
from skitter.masking import mask_value
from skitter.orchestrator.errors import UnknownSchedule
from skitter.orchestrator.schedule import Schedule, Tick
from skitter.orchestrator.schedules import ScheduleView
from skitter.services import Services

router = APIRouter(prefix="/api/v1/schedules", tags=["schedules"], responses=refusals())
Name = Annotated[
    str,
    Path(
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$",
        description="The schedule's name.",
        examples=["prices-daily"],
    ),
]
Overlap = Literal["skip", "queue", "allow", "cancel"]
CatchUp = Literal["none", "last", "all"]
_EXAMPLE: dict[str, Any] = {
    "name": "prices-daily",
    "cron": "0 6 * * *",
    "timezone": "Africa/Tunis",
    "job": {"spider": "ecommerce", "seeds": ["https://shop.example/"]},
}


class ScheduleIn(Given):
    """A schedule to be. overlap: what a tick does while an earlier one's job is live."""

    model_config = ConfigDict(json_schema_extra={"examples": [_EXAMPLE]})

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$")]
    cron: Word
    timezone: Word = "UTC"
    job: SubmissionIn
    """Without an id: each tick's job gets one of its own."""
    overlap: Overlap = "skip"
    catch_up: CatchUp = "last"
    """Which of the ticks that were missed are run."""
    catch_up_most: Annotated[int, Field(ge=1, le=100)] = 10
    paused: bool = False


class ScheduleEditIn(Given):
    """What is different from now on; what is unsaid stays."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"cron": "30 5 * * 1-5"}]})

    cron: Word | None = None
    timezone: Word | None = None
    job: SubmissionIn | None = None
    overlap: Overlap | None = None
    catch_up: CatchUp | None = None
    catch_up_most: Annotated[int, Field(ge=1, le=100)] | None = None


class TickOut(Told):
    """One time that a schedule was due, and what became of it."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "schedule": "prices-daily",
                    "at": "2026-11-16T05:00:00+00:00",
                    "state": "submitted",
                    "job": "prices-daily-20261116T050000Z",
                    "note": "",
                    "manual": False,
                }
            ]
        }
    )

    schedule: str
    at: datetime
    state: str
    job: str
    note: str
    manual: bool


class ScheduleOut(Told):
    """A schedule, when it ticks next, and what became of its last tick."""

    name: str
    cron: str
    timezone: str
    job: dict[str, Any]
    overlap: str
    catch_up: str
    catch_up_most: int
    paused: bool
    source: str
    """The file that it comes from, or empty."""
    next_ticks: list[datetime]
    last: TickOut | None
    created_at: datetime
    changed_at: datetime


class SchedulesOut(Told):
    schedules: list[ScheduleOut]


class TicksOut(Told):
    """What became of ticks, the newest first."""

    ticks: list[TickOut]


@router.get("")
async def list_schedules(services: Served, who: Viewer) -> SchedulesOut:
    """List all schedules, by name."""
    found = [view for view in await services.schedules.list() if _is_theirs(view, who)]
    return SchedulesOut(schedules=[_out(view) for view in found])


@router.post("", status_code=201, responses=refusals(409))
async def add_schedule(given: ScheduleIn, services: Served, who: Operator) -> ScheduleOut:
    """Add a schedule."""
    fields = given.model_dump() | {"job": _job(given.job, who, services)}
    return _out(await services.schedules.add(Schedule(**fields)))


@router.get("/{name}", responses=refusals(404))
async def show_schedule(name: Name, services: Served, who: Viewer) -> ScheduleOut:
    """Show a schedule and its next five ticks."""
    return _out(await _one(services, who, name))


@router.patch("/{name}", responses=refusals(404))
async def change_schedule(
    name: Name, given: ScheduleEditIn, services: Served, who: Operator
) -> ScheduleOut:
    """Change a schedule, from now on."""
    await _one(services, who, name)
    edits = given.model_dump(exclude_none=True)
    if given.job is not None:
        edits["job"] = _job(given.job, who, services)
    return _out(await services.schedules.change(name, **edits))


@router.delete("/{name}", status_code=204, responses=refusals(404))
async def delete_schedule(name: Name, services: Served, who: Operator) -> Response:
    """Forget a schedule and its history; its jobs go on."""
    await _one(services, who, name)
    await services.schedules.delete(name)
    return Response(status_code=204)


@router.post("/{name}/pause", responses=refusals(404))
async def pause_schedule(name: Name, services: Served, who: Operator) -> ScheduleOut:
    """Let it tick no more until it is resumed."""
    await _one(services, who, name)
    return _out(await services.schedules.pause(name))


@router.post("/{name}/resume", responses=refusals(404))
async def resume_schedule(name: Name, services: Served, who: Operator) -> ScheduleOut:
    """Let it tick again, from now on."""
    await _one(services, who, name)
    return _out(await services.schedules.resume(name))


@router.post("/{name}/run", responses=refusals(404, 409))
async def run_schedule(name: Name, services: Served, who: Operator) -> TickOut:
    """Submit its job now, beside all ticks and whatever runs."""
    await _one(services, who, name)
    return _tick(await services.schedules.run_now(name))


@router.get("/{name}/history", responses=refusals(404))
async def show_history(
    name: Name,
    services: Served,
    who: Viewer,
    before: Annotated[datetime | None, Query(description="To go on from the last one.")] = None,
    limit: Limit = 50,
) -> TicksOut:
    """What became of its ticks, the newest first."""
    await _one(services, who, name)
    found = await services.schedules.history(name, limit=limit, before=aware(before))
    return TicksOut(ticks=[_tick(tick) for tick in found])


def _job(given: SubmissionIn, who: Principal, services: Services) -> dict[str, Any]:
    """The job of each tick, as it is kept: what was said of it, and the project."""
    fields = given.model_dump(exclude_defaults=True) | {"spider": given.spider}
    fields["project"] = given.project or who.project or "default"
    check_rights(given.model_dump() | {"project": fields["project"]}, who, services.settings)
    return fields


async def _one(services: Services, who: Principal, name: str) -> ScheduleView:
    view = await services.schedules.show(name)
    if not _is_theirs(view, who):
        raise UnknownSchedule(schedule=name)
    return view


def _is_theirs(view: ScheduleView, who: Principal) -> bool:
    return who.sees(str(view.schedule.job.get("project", "default")))


def _out(view: ScheduleView) -> ScheduleOut:
    fields = view.to_json()
    return ScheduleOut.model_validate(fields | {"job": mask_value(fields["job"])})


def _tick(tick: Tick) -> TickOut:
    return TickOut.model_validate(tick.to_json())
