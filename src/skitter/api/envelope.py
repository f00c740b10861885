"""Around every request: a name for it in the logs, safe headers, and no error without an answer."""

from __future__ import annotations

import re
import secrets
import time
from typing import TYPE_CHECKING

import structlog
from starlette.datastructures import Headers, MutableHeaders

from skitter.api.problems import plain

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

log = structlog.get_logger(__name__)

SAFE_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_NAME = re.compile(r"[A-Za-z0-9._-]{1,64}")


class Envelope:
    """The outermost part. A caller may name its request with X-Request-ID."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        given = Headers(scope=scope).get("x-request-id", "")
        name = given if _NAME.fullmatch(given) else secrets.token_hex(8)
        scope.setdefault("state", {})["request_id"] = name
        answering = _Answering(send, name)
        begun = time.perf_counter()
        with structlog.contextvars.bound_contextvars(request=name):
            try:
                await self._app(scope, receive, answering.send)
            except Exception:
                log.exception("the request failed", method=scope["method"], path=scope["path"])
                if answering.status:
                    raise  # too late to say anything: the connection is cut
                problem = plain(500, "Something went wrong; the log says what.", scope)
                await problem(scope, receive, answering.send)
            finally:
                ms = round((time.perf_counter() - begun) * 1000, 1)
                log.debug("request", path=scope["path"], status=answering.status, ms=ms)


class _Answering:
    """Puts the headers on, and knows whether the answer has begun."""

    def __init__(self, send: Send, name: str) -> None:
        self._send = send
        self._name = name
        self.status = 0

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            headers["X-Request-ID"] = self._name
            for name, value in SAFE_HEADERS.items():
                headers.setdefault(name, value)
        await self._send(message)
