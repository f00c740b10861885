"""Scrapy Cluster's REST: `/`, `/feed` and `/poll`, with its JSON, on the same server.

A crawl request is answered when it is taken, not when it is sent on, so that what is refused is
told (there it was SUCCESS all the same). A key is needed: in Authorization or X-Api-Key.
"""

from __future__ import annotations

import asyncio
import os
import socket
import time
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse
from pydantic import ConfigDict, ValidationError

from skitter.access import Principal, Role
from skitter.access_errors import BadMessage, NotAllowed, OtherProject, TooManyAtOnce
from skitter.api.health import check_parts
from skitter.api.kinds import Told
from skitter.api.problems import MEDIA_TYPE, status_of
from skitter.compat.scrapy_cluster import Desk, read_message
from skitter.compat.scrapy_cluster.counts import FeedCounts
from skitter.compat.scrapy_cluster.crawls import DEFAULT_PROJECT
from skitter.compat.scrapy_cluster.messages import Action, Crawl, Domain, Message, Poll
from skitter.compat.scrapy_cluster.polls import PollAnswers
from skitter.errors import SkitterError
from skitter.masking import mask_text

if TYPE_CHECKING:
    from skitter.services import Services

router = APIRouter(tags=["Scrapy Cluster"])
WAIT_S = 5.0
MOST_PENDING = 100
MUST_BE_JSON = "The payload must be valid JSON."
BAD_SCHEMA = "JSON did not validate against schema."
NO_POLL = "Could not find matching poll_id"


class IndexOut(Told):
    """There is no Kafka here: `kafka_connected` says whether messages can be taken."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "kafka_connected": True,
                    "redis_connected": True,
                    "uptime_sec": 156,
                    "my_id": "node1-4711",
                    "node_health": "GREEN",
                }
            ]
        }
    )

    kafka_connected: bool
    redis_connected: bool
    uptime_sec: int
    my_id: str
    node_health: str


class WrappedOut(Told):
    """What every answer of `/feed` and `/poll` is wrapped in."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"status": "SUCCESS", "data": None, "error": None}]}
    )

    status: str
    data: dict[str, Any] | None
    error: dict[str, Any] | None


class Feed:
    """Takes messages, waits a little for their answers, and keeps those that come later."""

    def __init__(self, services: Services) -> None:
        self.counts = FeedCounts(services.store)
        self.polls = PollAnswers(services.store)
        self._desk = Desk(services.jobs, services.frontier, counts=self.counts)
        self._pending: set[asyncio.Task[None]] = set()

    async def take(self, message: Message, who: Principal) -> dict[str, Any] | None:
        """A message's answer, or where to ask for it later; a crawl request has none."""
        project = who.project or DEFAULT_PROJECT
        if isinstance(message, Crawl):
            return await self._desk.handle(message, project=project)
        if len(self._pending) >= MOST_PENDING:
            raise TooManyAtOnce(most=MOST_PENDING, what="messages", setting="the wait for them")
        working = asyncio.create_task(self._desk.handle(message, project=project))
        done, _ = await asyncio.wait({working}, timeout=WAIT_S)
        if done:
            return working.result()
        poll_id = str(getattr(message, "uuid", ""))
        keeping = asyncio.create_task(self._keep(who.key, poll_id, working))
        self._pending.add(keeping)
        keeping.add_done_callback(self._pending.discard)
        return {"poll_id": poll_id}

    async def _keep(
        self, owner: str, poll_id: str, working: asyncio.Task[dict[str, Any] | None]
    ) -> None:
        """What failed late is told where it is asked for."""
        try:
            answer = await working or {}
        except SkitterError as error:
            answer = {"uuid": poll_id, "error": mask_text(error.summary)}
        await self.polls.put(owner, poll_id, answer)

    async def close(self) -> None:
        for task in self._pending:
            task.cancel()
        await asyncio.gather(*self._pending, return_exceptions=True)


def _failures(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """In the wrapper, or as a problem where it did not come that far: no key, too much."""
    told = {
        "model": WrappedOut,
        "description": "Refused, with the reason in `error`, or as a problem.",
        "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
    return dict.fromkeys(statuses, told)


def _body(example: dict[str, Any]) -> dict[str, Any]:
    content = {"application/json": {"schema": {"type": "object"}, "example": example}}
    return {"requestBody": {"required": True, "content": content}}


@router.get("/", response_model=IndexOut)
@router.post("/", response_model=IndexOut, operation_id="index_post")
async def index(request: Request) -> IndexOut:
    """How this server is, in Scrapy Cluster's words."""
    parts = await check_parts(request.app.state.services)
    redis, kafka = parts["frontier"] == "ok", parts["store"] == "ok"
    health = "GREEN" if redis and kafka else "YELLOW" if redis or kafka else "RED"
    return IndexOut(
        kafka_connected=kafka,
        redis_connected=redis,
        uptime_sec=int(time.monotonic() - request.app.state.begun),
        my_id=f"{socket.gethostname()}-{os.getpid()}",
        node_health=health,
    )


@router.post(
    "/feed",
    response_model=WrappedOut,
    responses=_failures(400, 401, 403, 404, 409, 413, 422, 429, 503),
    openapi_extra=_body(
        {"url": "http://books.example", "appid": "testapp", "crawlid": "abc123", "maxdepth": 1}
    ),
)
async def feed(request: Request) -> JSONResponse:
    """Take a crawl request, an action, a stats request or a domain's settings.

    With a uuid it waits up to 5 s for the answer, and gives a poll_id if it takes longer.
    """
    desk: Feed = request.app.state.feed
    try:
        given = await request.json()
    except ValueError:
        return _failure(400, MUST_BE_JSON)
    try:
        message = read_message(given)
        _check(message, request.state.principal)
        answer = await desk.take(message, request.state.principal)
    except BadMessage as error:
        await desk.counts.count_failure()
        return _failure(400, BAD_SCHEMA, error.reason)
    except SkitterError as error:
        status = status_of(error)
        return _failure(status, mask_text(error.summary), mask_text(error.hint) or None)
    await desk.counts.count(message)
    return _success(answer)


@router.post(
    "/poll",
    response_model=WrappedOut,
    responses=_failures(400, 401, 403, 404, 413, 422, 429, 503),
    openapi_extra=_body({"poll_id": "abc123"}),
)
async def poll(request: Request) -> JSONResponse:
    """The answer to a message that took longer, once; then 404."""
    desk: Feed = request.app.state.feed
    try:
        given = Poll.model_validate(await request.json())
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        cause = f"{'.'.join(map(str, first['loc']))}: {first['msg']}".removeprefix(": ")
        return _failure(400, BAD_SCHEMA, cause)
    except ValueError:
        return _failure(400, MUST_BE_JSON)
    answer = await desk.polls.take(request.state.principal.key, given.poll_id)
    return _success(answer) if answer is not None else _failure(404, NO_POLL)


def _check(message: Message, who: Principal) -> None:
    """To ask is a viewer's, to change an operator's; the cluster is not one project's."""
    asks = isinstance(message, Action) and message.action == "info"
    changes = isinstance(message, Crawl | Domain) or (isinstance(message, Action) and not asks)
    if changes and not who.role.covers(Role.OPERATOR):
        raise NotAllowed(key=who.key, role=who.role.value, needed=Role.OPERATOR.value)
    if who.project is not None and not isinstance(message, Crawl | Action):
        reason = "it is shared by all projects"
        raise OtherProject(key=who.key, project=who.project, reason=reason)


def _success(data: dict[str, Any] | None) -> JSONResponse:
    return JSONResponse({"status": "SUCCESS", "data": data, "error": None})


def _failure(status: int, message: str, cause: str | None = None) -> JSONResponse:
    error = {"message": message} | ({"cause": cause} if cause else {})
    return JSONResponse({"status": "FAILURE", "data": None, "error": error}, status)
