"""Each process says how it is, on a port of its own."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError
from urllib.request import ProxyHandler, build_opener

import pytest

from skitter.errors import SettingsError
from skitter.frontier import Job, Request
from skitter.orchestrator.health import orchestrator_health
from skitter.orchestrator.orchestrator import Orchestrator
from skitter.worker.health import Health, serving_health
from skitter.worker.health_told import worker_health
from skitter.worker.supervisor import Plan, Supervisor

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from skitter.services import Services

pytestmark = pytest.mark.integration

OPENER = build_opener(ProxyHandler({}))


async def ask(port: int, path: str) -> tuple[int, str]:
    def get() -> tuple[int, str]:
        try:
            with OPENER.open(f"http://127.0.0.1:{port}{path}", timeout=30) as reply:
                return reply.status, reply.read().decode()
        except HTTPError as error:
            return error.code, error.read().decode()

    return await asyncio.to_thread(get)


@asynccontextmanager
async def serving(health: Health) -> AsyncIterator[int]:
    async with serving_health(health, host="127.0.0.1", port=0) as port:
        yield port


def figures(text: str) -> dict[str, float]:
    rows = (line.rpartition(" ") for line in text.splitlines() if not line.startswith("#"))
    return {name: float(value) for name, _, value in rows}


async def test_an_orchestrator_is_ready_and_tells_queue_depths_by_spider(
    services: Services,
) -> None:
    for name, spider, pages in (("a", "shop", 3), ("b", "shop", 4), ("c", "news", 0)):
        await services.frontier.jobs.submit(Job(id=name, spider=spider))
        urls = [Request(job=name, url=f"https://h{n}.test/{name}") for n in range(pages)]
        await services.frontier.add(urls)
    await services.frontier.workers.beat("w.1", {"state": "running"})
    orchestrator = Orchestrator(services)
    async with serving(orchestrator_health(orchestrator, services)) as port:
        assert await ask(port, "/health/live") == (200, '{"status": "live"}')
        status, body = await ask(port, "/health/ready")
        assert (status, json.loads(body)["status"]) == (200, "ready")
        status, body = await ask(port, "/metrics")
    found = figures(body)
    assert status == 200
    assert found['skitter_queue_depth{spider="shop"}'] == 7
    assert found['skitter_queue_depth{spider="news"}'] == 0
    assert found['skitter_live_jobs{spider="shop"}'] == 2
    assert found['skitter_workers{state="running"}'] == 1
    assert found["skitter_ready_hosts"] == 4
    assert found["skitter_orchestrator_leading"] == 0


async def test_a_worker_is_ready_when_a_process_of_it_is(services: Services) -> None:
    async def nothing(_: str) -> Any:
        raise OSError("no child here")

    supervisor = Supervisor(Plan(name="w", processes=0, grace_s=1), start=nothing, bury=nothing)
    fields = {"state": "running", "busy": 0.5, "done": 7, "memory": 1000}
    await services.frontier.workers.beat("w.1", fields)
    await services.frontier.workers.beat("other.1", {"busy": 1.0})
    async with serving(worker_health(services.frontier, supervisor)) as port:
        status, body = await ask(port, "/health/ready")
        assert (status, json.loads(body)["processes"]) == (200, 0)
        supervisor.scale_to(1)
        status, body = await ask(port, "/health/ready")
        assert (status, json.loads(body)["status"]) == (503, "not ready")
        found = figures((await ask(port, "/metrics"))[1])
    supervisor.stop()
    assert found['skitter_worker_busy{worker="w.1"}'] == 0.5
    assert found['skitter_worker_done_total{worker="w.1"}'] == 7
    assert not [name for name in found if "other" in name]


async def test_a_process_that_does_not_answer_is_not_ready() -> None:
    async def never() -> dict[str, Any]:
        await asyncio.Event().wait()
        return {}

    async def none() -> list[Any]:
        return []

    async with serving(Health(ready=never, figures=none)) as port:
        status, body = await ask(port, "/health/ready")
        assert status == 503
        assert "no answer" in body
        assert (await ask(port, "/health/live"))[0] == 200


async def test_a_port_that_is_taken_is_told_in_words() -> None:
    async def none() -> Any:
        return {}

    health = Health(ready=none, figures=none)
    async with serving(health) as port:
        with pytest.raises(SettingsError, match="nobody can listen"):
            async with serving_health(health, host="127.0.0.1", port=port):
                pass


async def test_without_a_port_there_is_no_server() -> None:
    async def none() -> Any:
        return {}

    async with serving_health(Health(ready=none, figures=none), host="127.0.0.1", port=None) as no:
        assert no == 0
