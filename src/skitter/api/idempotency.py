"""Idempotency keys: a POST that is repeated with the same key gets the first one's answer.

The key's row is written before the request is begun; whoever comes meanwhile is told to wait. The
body is hashed as it is read, so that a long one is not held. An answer of 5xx is forgotten: then
the repeat is tried anew. Keys belong to the API key that sent them, and are kept for a day.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from starlette.datastructures import Headers

from skitter.access_errors import AnswerNotKept, ApiError, SameKeyOtherBody, StillUnderWay
from skitter.api.answers import Answers, Kept
from skitter.api.problems import answer, plain
from skitter.service_errors import StoreError

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADER = "idempotency-key"
REPLAYED = (b"idempotency-replayed", b"true")
MOST_CHARS, MOST_BODY = 200, 4 * 1024**2
NEVER_KEPT = "/api/v1/keys"  # its answer holds a secret that is not to be kept anywhere


class Idempotency:
    """Stands before all that POSTs can change."""

    def __init__(self, app: ASGIApp, *, answers: Answers) -> None:
        self._app = app
        self._answers = answers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        name = Headers(scope=scope).get(HEADER, "") if scope["type"] == "http" else ""
        if not name or not _counts(scope):
            await self._app(scope, receive, send)
            return
        if len(name) > MOST_CHARS:
            refusal = plain(422, f"{HEADER} is longer than {MOST_CHARS} characters", scope)
            await refusal(scope, receive, send)
            return
        owner = scope["state"]["principal"].key
        try:
            kept = await self._answers.begin(owner, name)
            if kept is not None:
                await self._repeat(kept, name, scope, receive, send)
                return
        except (ApiError, StoreError) as error:
            await answer(error, scope)(scope, receive, send)
            return
        await self._first(owner, name, scope, receive, send)

    async def _first(
        self, owner: str, name: str, scope: Scope, receive: Receive, send: Send
    ) -> None:
        body, said = _Hashed(scope, receive), _Copied(send)
        try:
            await self._app(scope, body.receive, said.send)
            await body.drain()
        except BaseException:
            await self._answers.forget(owner, name)
            raise
        if said.status >= 500 or not said.status:
            await self._answers.forget(owner, name)
            return
        kept = Kept(body.digest(), said.status, said.headers, said.body())
        await self._answers.keep(owner, name, kept)

    async def _repeat(
        self, kept: Kept, name: str, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Raises what the repeat is to be told where it does not get the first one's answer."""
        if kept.digest is None:
            raise StillUnderWay(name=name)
        body = _Hashed(scope, receive)
        await body.drain()
        if body.digest() != kept.digest:
            raise SameKeyOtherBody(name=name)
        if kept.body is None:
            raise AnswerNotKept(name=name)
        headers = [(a.encode(), b.encode()) for a, b in kept.headers] + [REPLAYED]
        await send({"type": "http.response.start", "status": kept.status, "headers": headers})
        await send({"type": "http.response.body", "body": kept.body})


def _counts(scope: Scope) -> bool:
    is_change = scope["method"] == "POST" and scope["path"] != NEVER_KEPT
    return is_change and "principal" in scope["state"]


class _Hashed:
    """A body on its way, with a digest of it and of what it is for."""

    def __init__(self, scope: Scope, receive: Receive) -> None:
        self._receive = receive
        self._more = True
        self._hash = sha256(f"{scope['method']} {scope['path']}\n".encode())
        self._hash.update(scope.get("query_string", b"") + b"\n")

    async def receive(self) -> Message:
        message = await self._receive()
        self._hash.update(message.get("body", b""))
        if message["type"] == "http.disconnect" or not message.get("more_body", False):
            self._more = False
        return message

    async def drain(self) -> None:
        """Read what nobody has read."""
        while self._more:
            await self.receive()

    def digest(self) -> str:
        return self._hash.hexdigest()


class _Copied:
    """An answer on its way, and a copy of it, unless it is long."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.status = 0
        self.headers: list[tuple[str, str]] = []
        self._parts: list[bytes] | None = []
        self._size = 0

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = [(name.decode(), value.decode()) for name, value in message["headers"]]
        else:
            self._copy(message.get("body", b""))
        await self._send(message)

    def _copy(self, part: bytes) -> None:
        self._size += len(part)
        if self._size > MOST_BODY:
            self._parts = None
        elif self._parts is not None:
            self._parts.append(part)

    def body(self) -> bytes | None:
        return None if self._parts is None else b"".join(self._parts)
