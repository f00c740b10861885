"""How long a body may be, and how long a request may take.

A body is read before the request is begun, so that what is too long does nothing. One that is read
line by line may be long, but may not stop coming; what is sent as it is made (exports, events) may
take long, and ends when nobody reads it.
"""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING

from starlette.datastructures import Headers

from skitter.access_errors import BodyTooLong, TooSlow
from skitter.api.problems import answer

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from skitter.settings.api import ApiSettings

STREAMED_BODIES = re.compile(r"/api/v1/jobs/(?:[^/]+/seeds|bulk|seeded)")
STREAMED_ANSWERS = re.compile(r"/api/v1/(?:items/export|events|jobs/[^/]+/events)")


class Bounds:
    """Cuts off what is too long or takes too long, and says so."""

    def __init__(self, app: ASGIApp, *, settings: ApiSettings) -> None:
        self._app = app
        self._settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun = False

        async def watched(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._run(scope, receive, watched)
        except (BodyTooLong, TooSlow) as error:
            if begun:
                raise  # too late to say so: the connection is cut
            await answer(error, scope)(scope, receive, send)

    async def _run(self, scope: Scope, receive: Receive, send: Send) -> None:
        settings, path = self._settings, scope["path"]
        if STREAMED_BODIES.fullmatch(path):
            body = StreamedBody(receive, most=settings.max_stream, pause_s=settings.timeout_s)
            body.check(Headers(scope=scope).get("content-length", ""))
            await self._app(scope, body.receive, send)
            return
        free = STREAMED_ANSWERS.fullmatch(path) and scope["method"] == "GET"
        try:
            async with asyncio.timeout(settings.timeout_s) as limit:
                whole = await _read_whole(scope, receive, most=settings.max_body)
                if not free:
                    await self._app(scope, whole, send)
        except TimeoutError:
            if limit.expired():
                raise TooSlow(limit_s=settings.timeout_s) from None
            raise
        if free:
            await self._app(scope, whole, send)


async def _read_whole(scope: Scope, receive: Receive, *, most: int) -> Receive:
    """Read the body; what gives it again, and then what comes after it."""
    length = Headers(scope=scope).get("content-length", "")
    if length.isdecimal() and int(length) > most:
        raise BodyTooLong(most=most, setting="api.max_body")
    parts, size, more = [], 0, True
    while more:
        message = await receive()
        if message["type"] != "http.request":
            return _again([message], receive)
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        more = message.get("more_body", False)
        if size > most:
            raise BodyTooLong(most=most, setting="api.max_body")
    body = b"".join(parts)
    scope["state"]["body"] = body
    return _again([{"type": "http.request", "body": body, "more_body": False}], receive)


def _again(messages: list[Message], receive: Receive) -> Receive:
    async def give() -> Message:
        return messages.pop(0) if messages else await receive()

    return give


class StreamedBody:
    """A body as it comes, counted; it may not pause for long."""

    def __init__(self, receive: Receive, *, most: int, pause_s: float) -> None:
        self._receive = receive
        self._most = most
        self._pause_s = pause_s
        self._read = 0
        self._more = True

    def check(self, length: str) -> None:
        """Refuse what says by itself that it is too long."""
        if length.isdecimal() and int(length) > self._most:
            raise BodyTooLong(most=self._most, setting="api.max_stream")

    async def receive(self) -> Message:
        """The next part; after the last one, whatever the server has to say."""
        if not self._more:
            return await self._receive()
        try:
            message = await asyncio.wait_for(self._receive(), self._pause_s)
        except TimeoutError:
            raise TooSlow(limit_s=self._pause_s) from None
        self._more = bool(message.get("more_body", False))
        self._read += len(message.get("body", b""))
        if self._read > self._most:
            raise BodyTooLong(most=self._most, setting="api.max_stream")
        return message
