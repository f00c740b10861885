"""Runs the API in the running loop, until it is cancelled.

It listens beyond this machine only where there is a key: else the first to come would be let in by
nobody. The first key is made, and told once, at the first start.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import socket
from typing import TYPE_CHECKING

import structlog
import uvicorn

from skitter.access_errors import CannotListen, OpenToAll
from skitter.api.app import make_app

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from fastapi import FastAPI

    from skitter.services import Services

log = structlog.get_logger(__name__)

KEEP_ALIVE_S, GRACE_S = 20, 5


class _Server(uvicorn.Server):
    """Signals are its caller's: whoever runs it cancels it."""

    def __init__(self, config: uvicorn.Config, app: FastAPI) -> None:
        super().__init__(config)
        self._app = app

    def end(self) -> None:
        """Finish what is under way; those who follow events would never end by themselves."""
        self._app.state.listeners.end_all()
        self.should_exit = True

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


async def serve(
    services: Services,
    *,
    host: str | None = None,
    port: int | None = None,
    tls_cert: Path | None = None,
    tls_key: Path | None = None,
    on_ready: Callable[[str], None] | None = None,
) -> None:
    """Serve until cancelled; on_ready is told the address. What is unsaid is as in the settings."""
    settings = services.settings.api
    host = host or settings.host
    if not is_loopback(host) and not await services.keys.any():
        raise OpenToAll(host=host)
    port = settings.port if port is None else port
    tls = (tls_cert or settings.tls_cert, tls_key or settings.tls_key)
    # uvicorn would end the process where it cannot listen, so the socket is opened here.
    try:
        app = make_app(services)
        config = _config(app, services, tls=tls)
        config.load()
        listening = _listen(host, port)
    except OSError as error:
        raise CannotListen(host=host, port=port, reason=error.strerror or str(error)) from error
    with listening:
        await _run(_Server(config, app), listening, on_ready)


async def _run(
    server: _Server, listening: socket.socket, on_ready: Callable[[str], None] | None
) -> None:
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    try:
        while not server.started and not serving.done():  # noqa: ASYNC110 - it has no event
            await asyncio.sleep(0.01)
        address = _address(listening, tls=server.config.is_ssl)
        log.info("the API listens", address=address)
        if on_ready:
            on_ready(address)
        await asyncio.shield(serving)
    except asyncio.CancelledError:
        server.end()
        await serving
        raise


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, port), family=family, backlog=2048)


def _address(listening: socket.socket, *, tls: bool) -> str:
    host, port = listening.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    return f"{'https' if tls else 'http'}://{shown}:{port}"


def is_loopback(host: str) -> bool:
    """Whether an address is of this machine alone."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _config(
    app: FastAPI, services: Services, *, tls: tuple[Path | None, Path | None]
) -> uvicorn.Config:
    cert, key = tls
    return uvicorn.Config(
        app,
        ssl_certfile=cert,
        ssl_keyfile=key,
        log_config=None,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=services.settings.api.max_connections,
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=GRACE_S,
        lifespan="on",
        ws="none",
    )
