"""Where a redirect leads: a child request for the frontier, or the reason why not.

A redirect goes back through the frontier, at the pace of the host that it leads to. Under
meta["redirects"] is a fingerprint for each URL that redirected so far: its length is their number,
and it shows loops. A URL may come up a second time, for many sites set a cookie and send the client
back to where it came from.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urljoin

from w3lib.url import safe_url_string

from skitter.errors import BadRequest
from skitter.frontier import Request
from skitter.frontier.urls import fingerprint, parse
from skitter.masking import is_secret
from skitter.policies.robots_rules import origin_of
from skitter.settings import RedirectSettings

META_KEY = "redirects"
STATUSES = frozenset({301, 302, 303, 307, 308})
VISITS = 2
_CONTENT = frozenset(
    f"content-{name}" for name in ("type", "length", "encoding", "language", "location")
)


@dataclass(frozen=True, slots=True)
class Refused:
    """Why a redirect is not followed."""

    reason: str


@dataclass(frozen=True, kw_only=True)
class RedirectRules:
    """How far redirects are followed, and how. priority is added at each hop."""

    max_hops: int = 20
    downgrade: bool = True
    priority: int = 0

    @classmethod
    def of(cls, settings: RedirectSettings) -> RedirectRules:
        """The rules that the settings describe."""
        return cls(max_hops=settings.max_hops, downgrade=settings.downgrade)

    def follow(self, request: Request, status: int, location: str | bytes) -> Request | Refused:
        """The request that a response's status and Location lead to."""
        if status not in STATUSES or not location:
            return Refused("no redirect")
        met = _met(request)
        if len(met) >= self.max_hops:
            return Refused("too many redirects")
        url = _target(request.url, location)
        if isinstance(url, Refused):
            return url
        child = _with_method(request, status, url)
        if url.startswith("http:") and request.url.startswith("https:"):
            if not self.downgrade:
                return Refused("redirect from https to http")
            if child.body:
                return Refused("redirect from https to http with a body")
        return self._bounded(request, child, met)

    def _bounded(self, request: Request, child: Request, met: list[int]) -> Request | Refused:
        met = [*met, _mark(request)]
        visits = met.count(_mark(child))
        if visits >= VISITS:
            return Refused("redirect loop")
        return replace(
            child,
            headers=_headers(request, child),
            meta={**request.meta, META_KEY: met},
            # It was seen, of course: by this very chain.
            dont_filter=request.dont_filter or visits > 0,
            priority=request.priority + self.priority,
        )


def hops(request: Request) -> int:
    """How many redirects led to this request."""
    return len(_met(request))


def _met(request: Request) -> list[int]:
    met = request.meta.get(META_KEY)
    return met if isinstance(met, list) else []


def _mark(request: Request) -> int:
    return fingerprint(request.url, method=request.method, body=request.body)


def _target(base: str, location: str | bytes) -> str | Refused:
    """The canonical URL of a Location, which may be relative and not quite clean."""
    text = location if isinstance(location, str) else _decode(location)
    try:
        return parse(safe_url_string(urljoin(base, text.strip()))).url
    except BadRequest as error:
        return Refused(f"redirect to a bad URL: {error.reason}")
    except ValueError as error:
        return Refused(f"redirect to a bad URL: {error}")


def _decode(location: bytes) -> str:
    try:
        return location.decode()
    except UnicodeDecodeError:
        return location.decode("latin-1")


def _with_method(request: Request, status: int, url: str) -> Request:
    """A new request; the body goes where the method becomes GET (RFC 9110, 15.4)."""
    becomes_get = (status in (301, 302) and request.method == "POST") or (
        status == 303 and request.method not in ("GET", "HEAD")
    )
    method, body = ("GET", b"") if becomes_get else (request.method, request.body)
    return replace(request, url=url, method=method, body=body, key="", attempts=0, crashes=0)


def _headers(request: Request, child: Request) -> dict[str, Any]:
    """Those that may go along: what is secret stays with its origin, what spoke of a body, too."""
    before, after = origin_of(request.url), origin_of(child.url)
    upgrade = after == before.replace("http://", "https://", 1)
    bodiless = child.method != request.method
    return {
        name: value
        for name, value in request.headers.items()
        if _survives(name.lower(), same=before == after, upgrade=upgrade, bodiless=bodiless)
    }


def _survives(name: str, *, same: bool, upgrade: bool, bodiless: bool) -> bool:
    if name in ("host", "proxy-authorization") or (bodiless and name in _CONTENT):
        return False
    if same:
        return True
    return name != "referer" and (not is_secret(name) or (upgrade and name == "cookie"))
