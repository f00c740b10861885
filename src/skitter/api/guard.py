"""Who asks, and how often: the key is checked before anything else is read of a request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.datastructures import Headers

from skitter.access_errors import AccessError, BadKey, NoKey, TooManyRequests
from skitter.api.problems import answer
from skitter.api.rates import Buckets
from skitter.service_errors import StoreError

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from skitter.access import Keys, Principal
    from skitter.settings.api import ApiSettings

# What says nothing of anybody's work.
OPEN = frozenset({"/", "/health/live", "/health/ready", "/openapi.json"})


class Guard:
    """Lets in who has a good key and asks at a bearable rate; health and the index are open."""

    def __init__(self, app: ASGIApp, *, keys: Keys, settings: ApiSettings) -> None:
        self._app = app
        self._keys = keys
        self._rates = Buckets(rate_per_s=settings.rate_per_s, burst=settings.burst)
        rate = settings.anonymous_per_s
        self._strangers = Buckets(rate_per_s=rate, burst=max(1, int(2 * rate)))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] not in OPEN:
            try:
                scope.setdefault("state", {})["principal"] = await self._admit(scope)
            except (AccessError, StoreError) as error:
                await answer(error, scope)(scope, receive, send)
                return
        await self._app(scope, receive, send)

    async def _admit(self, scope: Scope) -> Principal:
        try:
            principal = await self._keys.verify(_key_of(Headers(scope=scope)))
        except (NoKey, BadKey):
            _limit(self._strangers, address_of(scope), who="this address without a good key")
            raise
        _limit(self._rates, principal.key, who=f"the key {principal.key}")
        return principal


def _limit(buckets: Buckets, name: str, *, who: str) -> None:
    if wait_s := buckets.take(name):
        raise TooManyRequests(rate=buckets.rate_per_s, who=who, retry_s=round(wait_s, 3))


def _key_of(headers: Headers) -> str:
    """As a bearer token, or in the header that Scrapy Cluster's users may find easier to set."""
    kind, _, text = headers.get("authorization", "").partition(" ")
    if kind.lower() == "bearer" and text:
        return text.strip()
    if "x-api-key" not in headers:
        raise NoKey
    return headers["x-api-key"]


def address_of(scope: Scope) -> str:
    """Where a request comes from."""
    client = scope.get("client")
    return str(client[0]) if client else "unknown"
