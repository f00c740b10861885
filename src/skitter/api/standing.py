"""How everything stands: totals, workers, and the settings in force."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from pydantic import ConfigDict

from skitter import __version__
from skitter.api.asking import Admin, Served, WideViewer, refusals
from skitter.api.kinds import Told
from skitter.masking import mask_value

router = APIRouter(prefix="/api/v1", tags=["status"], responses=refusals())


class StatusOut(Told):
    """The whole, now. Workers are those that say so every few seconds."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "version": "0.1.0",
                    "server": "valkey 9.1.0",
                    "namespace": "skitter",
                    "jobs": {"running": 3, "finished": 120},
                    "live_jobs": 3,
                    "leased": 64,
                    "delayed": 2,
                    "dead_letters": 5,
                    "workers": 2,
                    "pages_per_s": 140.5,
                }
            ]
        }
    )

    version: str
    server: str
    namespace: str
    jobs: dict[str, int]
    """How many there are in each state, the ended ones by outcome."""
    live_jobs: int
    leased: int
    delayed: int
    dead_letters: int
    workers: int
    pages_per_s: float


class WorkersOut(Told):
    """What each worker said last."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"workers": [{"name": "node1-4711", "state": "running", "pages_per_s": 80.2}]}
            ]
        }
    )

    workers: list[dict[str, Any]]


class SettingsOut(Told):
    """Sections of settings; passwords in them are masked."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"settings": {"politeness": {"delay_s": 1.0}}}]}
    )

    settings: dict[str, dict[str, Any]]


@router.get("/status")
async def show_status(services: Served, _who: WideViewer) -> StatusOut:
    """How everything stands."""
    frontier = services.frontier
    stats, workers = await frontier.stats.frontier(), await frontier.workers.list()
    server = frontier.shards.server
    return StatusOut(
        version=__version__,
        server=f"{server.kind} {server.version}",
        namespace=frontier.shards.namespace,
        jobs=await services.jobs.totals(),
        live_jobs=stats.live_jobs,
        leased=stats.leased,
        delayed=stats.delayed,
        dead_letters=stats.dead_letters,
        workers=len(workers),
        pages_per_s=round(sum(float(each.get("pages_per_s", 0)) for each in workers), 2),
    )


@router.get("/workers")
async def list_workers(services: Served, _who: WideViewer) -> WorkersOut:
    """Who is at work, and on what."""
    return WorkersOut(workers=await services.frontier.workers.list())


@router.get("/settings")
async def show_settings(request: Request, _who: Admin) -> SettingsOut:
    """The settings of this server, with secrets masked."""
    found = request.app.state.services.settings.model_dump(mode="json")
    masked = {
        section: {name: mask_value(value, name) for name, value in values.items()}
        for section, values in found.items()
    }
    return SettingsOut(settings=masked)
