"""The app: the routes, and what stands around every request, outermost first."""

from __future__ import annotations

import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from fastapi import FastAPI

from skitter.api import (
    alerts,
    bulk,
    cluster_rest,
    dead,
    events,
    health,
    hosts,
    items,
    jobs,
    keys,
    problems,
    schedules,
    schema,
    standing,
)
from skitter.api.answers import Answers
from skitter.api.bounds import Bounds
from skitter.api.cluster_rest import Feed
from skitter.api.envelope import Envelope
from skitter.api.exporting import Exports
from skitter.api.guard import Guard
from skitter.api.idempotency import Idempotency
from skitter.api.listeners import Listeners
from skitter.api.recording import Recording

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from skitter.services import Services

_PARTS = (jobs, bulk, events, items, hosts, dead, schedules, alerts, standing, keys, health,
          cluster_rest)  # fmt: skip


def make_app(services: Services) -> FastAPI:
    """The whole API on open services; whoever made them closes them."""
    settings = services.settings.api
    app = bare_app()
    app.state.services = services
    app.state.begun = time.monotonic()
    app.state.exports = Exports(settings.max_exports)
    app.state.listeners = Listeners(services, most=settings.max_listeners)
    app.state.feed = Feed(services)
    # The last one added is the outermost.
    app.add_middleware(Recording, audit=services.audit)
    answers = Answers(services.store, keep_s=settings.keep_answers_s)
    app.add_middleware(Idempotency, answers=answers)
    app.add_middleware(Bounds, settings=settings)
    app.add_middleware(Guard, keys=services.keys, settings=settings)
    app.add_middleware(Envelope)
    return app


def bare_app() -> FastAPI:
    """The routes and their document, without anything behind them."""
    app = FastAPI(
        title="Skitter", docs_url=None, redoc_url=None, lifespan=_lifespan, redirect_slashes=False
    )
    for part in _PARTS:
        app.include_router(part.router)
    problems.install(app)
    schema.install(app, [part.router for part in _PARTS])
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    yield
    app.state.exports.close()
    await app.state.listeners.close()
    await app.state.feed.close()
