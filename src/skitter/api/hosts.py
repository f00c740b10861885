"""Hosts: which are at the top, how one stands, and how it may be asked from now on."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Literal

from fastapi import APIRouter
from pydantic import ConfigDict, Field

from skitter.api.asking import Served, WideOperator, WideViewer, refusals
from skitter.api.kinds import Given, HostName, Limit, Told
from skitter.frontier import HostPolicy

router = APIRouter(prefix="/api/v1/hosts", tags=["hosts"], responses=refusals())
Milliseconds = Annotated[int, Field(ge=0, le=86_400_000)]


class HostOut(Told):
    """A host as it stands. Times are those of the server, in milliseconds since 1970."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "host": "books.example",
                    "queued": 120,
                    "fetching": 1,
                    "clock_ms": 1793866500123,
                    "fetched": 880,
                    "failed": 2,
                    "latency_ms": 140,
                    "adaptive_delay_ms": 0,
                    "crawl_delay_ms": 1000,
                    "robots_known_until_ms": 1793952900000,
                    "blocked": False,
                }
            ]
        }
    )

    host: str
    queued: int
    fetching: int
    clock_ms: int
    """When it may be asked next."""
    fetched: int
    failed: int
    latency_ms: int
    adaptive_delay_ms: int
    crawl_delay_ms: int
    robots_known_until_ms: int
    blocked: bool
    delay_ms: int | None = None
    """Its own policy, where there is one: delay, concurrency and budget."""
    concurrency: int | None = None
    budget: int | None = None
    budget_ms: int | None = None


class HostsOut(Told):
    """The hosts at the top of a ranking."""

    hosts: list[HostOut]


class PolicyIn(Given):
    """How a host may be asked; what is unsaid stays as it is."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"delay_ms": 2000}, {"blocked": True}]}
    )

    delay_ms: Milliseconds | None = None
    """The least time between two requests; above 0, one at a time."""
    concurrency: Annotated[int, Field(ge=1, le=10_000)] | None = None
    """How many at once, where there is no delay."""
    budget: Annotated[int, Field(ge=1, le=2**31)] | None = None
    """How many requests in each budget_ms."""
    budget_ms: Annotated[int, Field(ge=1, le=30 * 86_400_000)] | None = None
    blocked: bool | None = None
    """Whether it is not asked at all."""


@router.get("")
async def rank_hosts(
    services: Served,
    _who: WideViewer,
    by: Literal["queued", "fetched", "failed"] = "queued",
    limit: Limit = 20,
) -> HostsOut:
    """The hosts with most queued, fetched or failed."""
    found = await services.frontier.hosts.ranking(by, limit=limit)
    return HostsOut(hosts=[HostOut(**asdict(state)) for state in found])


@router.get("/{host}")
async def show_host(host: HostName, services: Served, _who: WideViewer) -> HostOut:
    """How a host stands; one that was never met has zeros."""
    return await _state(services, host)


@router.put("/{host}/policy")
async def set_policy(
    host: HostName, given: PolicyIn, services: Served, _who: WideOperator
) -> HostOut:
    """Set how a host may be asked, at once and for all workers."""
    await services.frontier.hosts.set_policy(host.lower(), HostPolicy(**given.model_dump()))
    return await _state(services, host)


@router.delete("/{host}/policy")
async def clear_policy(host: HostName, services: Served, _who: WideOperator) -> HostOut:
    """Go back to the settings for a host; this also lets a blocked one be asked again."""
    await services.frontier.hosts.clear_policy(host.lower())
    return await _state(services, host)


async def _state(services: Served, host: str) -> HostOut:
    return HostOut(**asdict(await services.frontier.hosts.state(host.lower())))
