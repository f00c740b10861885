"""Server-sent events: what happens to jobs, resumable, bounded, alive while nothing happens."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, aclosing
from typing import TYPE_CHECKING

import aiohttp
import pytest

from skitter.access import Role
from skitter.access_errors import ClientError
from skitter.api import listeners
from skitter.client import Client
from skitter.frontier import HostPolicy, Settlement
from skitter.orchestrator.finisher import Finisher
from skitter.services import open_services
from tests.integration.api.place import SEED, Place, serving, settings_of
from tests.wait import wait_until_async

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from skitter.client import Event

JOB = {"spider": "link", "seeds": [SEED]}


async def take(events: AsyncIterator[Event], count: int) -> list[Event]:
    found: list[Event] = []
    async with asyncio.timeout(20):
        while len(found) < count:
            found.append(await anext(events))
    return found


async def gathered(client: Client, job: str) -> list[Event]:
    async with asyncio.timeout(30):
        return [event async for event in client.events(job)]


async def test_what_happens_to_jobs_is_followed_and_resumed(place: Place) -> None:
    client = await place.client(Role.OPERATOR)
    await client.submit(JOB | {"id": "first"})
    async with aclosing(client.events(after=await _now(place))) as events:
        following = asyncio.create_task(take(events, 3))
        await client.pause("first")
        await client.resume("first")
        await client.stop("first")
        await _see_to_the_end(place)
        seen = await following
    assert [(event.kind, event.data["job"]) for event in seen] == [
        ("paused", "first"),
        ("resumed", "first"),
        ("ended", "first"),
    ]
    assert seen[2].data["outcome"] == "cancelled"
    async with aclosing(client.events(after=seen[0].id)) as events:
        assert [event.id for event in await take(events, 2)] == [seen[1].id, seen[2].id]


async def test_a_jobs_progress_is_followed_to_its_end(place: Place) -> None:
    client = await place.client(Role.OPERATOR)
    await client.submit(JOB | {"id": "books", "delay_s": 0})
    async with aclosing(client.events("books")) as events, asyncio.timeout(30):
        seen = await take(events, 1)
        await _work(place)
        await client.stop("books")
        await _see_to_the_end(place)
        seen += [event async for event in events]
    kinds = [event.kind for event in seen]
    assert kinds[0] == "progress"
    assert "ended" in kinds
    assert kinds[-1] == "progress"
    assert seen[0].data["figures"]["done"] == 0
    assert seen[-1].data["figures"]["done"] == 1
    assert (seen[-1].data["state"], seen[-1].data["outcome"]) == ("ended", "cancelled")


async def test_a_job_that_has_ended_is_told_and_no_more(place: Place) -> None:
    client = await place.client(Role.OPERATOR)
    await client.submit(JOB | {"id": "old"})
    await client.stop("old")
    seen = await gathered(client, "old")
    assert [(event.kind, event.data["outcome"]) for event in seen] == [("progress", "cancelled")]


async def test_another_projects_events_are_not_told(place: Place) -> None:
    shop = await place.client(Role.OPERATOR, project="shop")
    news = await place.client(Role.OPERATOR, project="news")
    async with aclosing(shop.events(after=await _now(place))) as events:
        following = asyncio.create_task(take(events, 1))
        await news.submit(JOB | {"id": "stories"})
        await shop.submit(JOB | {"id": "prices"})
        (event,) = await following
    assert event.data["job"] == "prices"
    with pytest.raises(ClientError, match="404"):
        await gathered(shop, "stories")


async def test_listeners_are_bounded_and_let_go(
    server_url: str, namespace: str, tmp_path: Path
) -> None:
    settings = settings_of(server_url, namespace, tmp_path, max_listeners=1)
    async with open_services(settings) as services, serving(services) as place:
        client = await place.client(Role.OPERATOR)
        await client.submit(JOB | {"id": "books"})
        async with aclosing(client.events("books")) as events:
            await take(events, 1)
            with pytest.raises(ClientError, match=r"503.*1 listeners"):
                await gathered(client, "books")
        await _refused_no_more(client)


async def test_a_quiet_stream_says_that_it_lives(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listeners, "HEARTBEAT_S", 0.05)
    headers = {"Authorization": f"Bearer {await place.key(Role.VIEWER)}"}
    async with (
        aiohttp.ClientSession(place.url, headers=headers) as session,
        session.get("/api/v1/events") as response,
        asyncio.timeout(30),
    ):
        assert response.content_type == "text/event-stream"
        lines: list[bytes] = []
        while lines.count(b": alive\n") < 2:
            lines.append(await response.content.readline())
    assert lines[0] == b"retry: 2000\n"


async def test_an_id_that_is_none_is_refused(place: Place) -> None:
    client = await place.client(Role.VIEWER)
    with pytest.raises(ClientError, match="422"):
        await take(client.events(after="yesterday"), 1)


async def test_the_server_ends_while_someone_listens(
    server_url: str, namespace: str, tmp_path: Path
) -> None:
    settings = settings_of(server_url, namespace, tmp_path)
    async with open_services(settings) as services, AsyncExitStack() as stack:
        async with asyncio.timeout(20), serving(services) as place:
            key = await place.key(Role.OPERATOR)
            client = await stack.enter_async_context(Client(place.url, key))
            await client.submit(JOB | {"id": "books"})
            events = client.events("books")
            await take(events, 1)
        assert [event async for event in events] == []  # it ended, and was not cut off


async def _now(place: Place) -> str:
    """The id of the last event, so that none is missed while the stream is opened."""
    return await place.services.frontier.events.last_id()


async def _refused_no_more(client: Client) -> None:
    async def again() -> bool:
        try:
            async with aclosing(client.events("books")) as events:
                await take(events, 1)
        except ClientError:
            return False
        return True

    await wait_until_async(again, timeout_s=20, what="a place for a listener")


async def _see_to_the_end(place: Place) -> None:
    """What an orchestrator does once a job has ended."""
    services = place.services
    finisher = Finisher(services.frontier, services.store, services.settings)

    async def done() -> bool:
        return await finisher.tend() > 0

    await wait_until_async(done, what="the job's end")


async def _work(place: Place) -> None:
    """What a worker does: take the one request, and settle it."""
    frontier = place.services.frontier
    await frontier.hosts.set_policy("books.example", HostPolicy(delay_ms=0, robots_ms=60_000))
    lane = (await frontier.jobs.record("books")).job.lane
    leased = await frontier.lease([lane], count=1)
    assert await frontier.settle([Settlement(leased.leases[0], page=True)]) == [True]
