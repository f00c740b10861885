"""Whether this process lives, whether it can work, and its figures for Prometheus."""

from __future__ import annotations

import asyncio
from typing import Literal

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse, PlainTextResponse
from pydantic import ConfigDict

from skitter.api.asking import Served, WideViewer, refusals
from skitter.api.kinds import Told
from skitter.api.metrics import render
from skitter.errors import SkitterError
from skitter.masking import mask_text
from skitter.services import Services

router = APIRouter(tags=["health"])
WAIT_S = 3.0


class LiveOut(Told):
    model_config = ConfigDict(json_schema_extra={"examples": [{"status": "live"}]})

    status: Literal["live"]


class ReadyOut(Told):
    """Each part that requests need, and what is wrong with it."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"status": "ready", "parts": {"frontier": "ok", "store": "ok"}}]
        }
    )

    status: Literal["ready", "not ready"]
    parts: dict[str, str]


@router.get("/health/live")
async def live() -> LiveOut:
    """The process lives: its loop answers."""
    return LiveOut(status="live")


@router.get(
    "/health/ready",
    response_model=ReadyOut,
    responses={503: {"model": ReadyOut, "description": "Something that it needs is away."}},
)
async def ready(request: Request) -> Response:
    """The process can do its work: its servers answer."""
    parts = await check_parts(request.app.state.services)
    good = all(told == "ok" for told in parts.values())
    answer = ReadyOut(status="ready" if good else "not ready", parts=parts)
    return JSONResponse(answer.model_dump(), 200 if good else 503)


@router.get(
    "/metrics",
    response_class=PlainTextResponse,
    responses=refusals()
    | {
        200: {
            "description": "Figures in the text form of Prometheus.",
            "content": {
                "text/plain": {
                    "schema": {"type": "string"},
                    "example": 'skitter_queue_depth{spider="link"} 120.0\n',
                }
            },
        }
    },
)
async def metrics(services: Served, _who: WideViewer) -> PlainTextResponse:
    """Figures for Prometheus; `skitter_queue_depth`, by spider, is for autoscalers."""
    return PlainTextResponse(await render(services.frontier))


async def check_parts(services: Services) -> dict[str, str]:
    """What each part says, or that it does not."""
    frontier = services.frontier
    key = f"{frontier.shards.prefixes[0]}m"
    return {
        "frontier": await _check(frontier.shards.command("EXISTS", key)),
        "store": await _check(services.keys.any()),
    }


async def _check(question: object) -> str:
    try:
        async with asyncio.timeout(WAIT_S):
            await question  # type: ignore[misc]
    except TimeoutError:
        return f"no answer within {WAIT_S:g} s"
    except SkitterError as error:
        return mask_text(error.summary)
    return "ok"
