"""A receiver of webhooks on the loopback: says what it is told to, and keeps what it got."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from aiohttp import web

if TYPE_CHECKING:
    from collections.abc import Mapping


class Receiver:
    def __init__(self) -> None:
        self.status = 200
        self.bodies: list[bytes] = []
        self.headers: list[Mapping[str, str]] = []
        self.url = ""
        self._runner: web.AppRunner | None = None

    async def __aenter__(self) -> Self:
        app = web.Application()
        app.router.add_post("/hook", self._take)
        self._runner = web.AppRunner(app)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        host, port = self._runner.addresses[0][:2]
        self.url = f"http://{host}:{port}/hook"
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._runner is not None
        await self._runner.cleanup()

    async def _take(self, request: web.Request) -> web.Response:
        self.bodies.append(await request.read())
        self.headers.append(dict(request.headers))
        return web.Response(status=self.status, text="so be it")

    @property
    def events(self) -> list[Any]:
        return [headers["X-Skitter-Event"] for headers in self.headers]
