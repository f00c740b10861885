"""Every change goes into the audit log: begun before it is made, completed with its answer."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from skitter.api.guard import address_of
from skitter.api.problems import answer
from skitter.service_errors import StoreError

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from skitter.access import Audit

READING = frozenset({"GET", "HEAD", "OPTIONS"})
ONLY_ASK = frozenset({"/", "/poll"})
MOST_BODY = 16_384


class Recording:
    """Stands around all that may change something."""

    def __init__(self, app: ASGIApp, *, audit: Audit) -> None:
        self._app = app
        self._audit = audit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not _changes(scope):
            await self._app(scope, receive, send)
            return
        try:
            line = await self._begin(scope)
        except StoreError as error:  # what cannot be written down is not done
            await answer(error, scope)(scope, receive, send)
            return
        recorded = False

        async def finish(message: Message) -> None:
            nonlocal recorded
            if not recorded:
                recorded = True
                await self._audit.finish(line, status=message["status"], detail=_detail(scope))
            await send(message)

        await self._app(scope, receive, finish)

    async def _begin(self, scope: Scope) -> int:
        state = scope["state"]
        action = f"{scope['method']} {scope['path']}"
        if query := scope.get("query_string", b"").decode("latin-1"):
            action += f"?{query}"
        return await self._audit.begin(
            state["principal"], action, address=address_of(scope), request_id=state["request_id"]
        )


def _changes(scope: Scope) -> bool:
    reads = scope["method"] in READING or scope["path"] in ONLY_ASK
    return not reads and "principal" in scope["state"]


def _detail(scope: Scope) -> Any:
    """What was asked for, where it is short JSON; the log masks what is secret in it."""
    body = scope["state"].get("body", b"")
    if not body or len(body) > MOST_BODY:
        return None
    try:
        return json.loads(body)
    except ValueError:
        return None
