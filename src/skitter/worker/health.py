"""A small server that says how a process is: alive, ready, and in figures for Prometheus.

`/health/live` answers as long as the event loop runs; `/health/ready` asks the process whether it
can do its work, within two seconds; `/metrics` has its figures.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import structlog
from aiohttp import web
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from skitter.errors import SettingsError, SkitterError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterable

    from prometheus_client.metrics_core import Metric

log = structlog.get_logger(__name__)

READY_S, METRICS_S = 2.0, 10.0


class NotReady(SkitterError):
    """This process cannot do its work now: {reason}"""


class Health:
    """The answers. ready raises NotReady, or says more; figures gives metrics."""

    def __init__(
        self,
        *,
        ready: Callable[[], Awaitable[dict[str, Any]]],
        figures: Callable[[], Awaitable[Iterable[Metric]]],
    ) -> None:
        self._ready = ready
        self._figures = figures

    def app(self) -> web.Application:
        """The server's routes."""
        app = web.Application()
        app.router.add_get("/health/live", self._say_live)
        app.router.add_get("/health/ready", self._say_ready)
        app.router.add_get("/metrics", self._say_figures)
        return app

    async def _say_live(self, _: web.Request) -> web.Response:
        return web.json_response({"status": "live"})

    async def _say_ready(self, _: web.Request) -> web.Response:
        try:
            said = await asyncio.wait_for(self._ready(), READY_S)
        except SkitterError as error:
            return web.json_response({"status": "not ready", "reason": error.summary}, status=503)
        except TimeoutError:
            reason = f"no answer within {READY_S:g} s"
            return web.json_response({"status": "not ready", "reason": reason}, status=503)
        return web.json_response({"status": "ready"} | said)

    async def _say_figures(self, _: web.Request) -> web.Response:
        try:
            metrics = list(await asyncio.wait_for(self._figures(), METRICS_S))
        except (SkitterError, TimeoutError) as error:
            return web.Response(status=503, text=f"{type(error).__name__}: {error}")
        registry = CollectorRegistry(auto_describe=False)
        registry.register(_Ready(metrics))
        body = await asyncio.to_thread(generate_latest, registry)
        return web.Response(body=body, headers={"Content-Type": CONTENT_TYPE_LATEST})


class _Ready:
    """Metrics that were gathered before, as a collector."""

    def __init__(self, metrics: list[Metric]) -> None:
        self._metrics = metrics

    def collect(self) -> list[Metric]:
        return self._metrics


@asynccontextmanager
async def serving_health(health: Health, *, host: str, port: int | None) -> AsyncIterator[int]:
    """Serve as long as the block runs; the port, 0 where none was asked for."""
    if port is None:
        yield 0
        return
    runner = web.AppRunner(health.app(), access_log=None)
    await runner.setup()
    try:
        try:
            await web.TCPSite(runner, host, port).start()
        except OSError as error:
            problems = f"nobody can listen on {host}:{port}: {error.strerror or error}"
            raise SettingsError(problems=problems) from error
        taken = int(runner.addresses[0][1])
        log.info("health is told", address=f"http://{host}:{taken}")
        yield taken
    finally:
        await runner.cleanup()
