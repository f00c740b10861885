"""A request, and its form on the wire: compact msgpack, never pickle.

A plain GET is its path and a few bytes: the host stands in the queue's key, and what has its
default value is left out. The first two bytes of a queue entry count attempts and crashes, so that
scripts can read them without knowing the rest.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

import ormsgpack

from skitter.errors import BadReply, BadRequest
from skitter.frontier.urls import START

MOST = 1 << 31
_NEW = b"\0\0"
_EXTRAS = (
    "method",
    "headers",
    "body",
    "callback",
    "errback",
    "dont_filter",
    "meta",
    "cb_kwargs",
    "key",
)
_DEFAULTS: tuple[Any, ...] = ("GET", {}, b"", "", "", False, {}, {}, "")
_NUMBERS = [str(number) for number in range(len(_EXTRAS))]
_values = attrgetter(*_EXTRAS)


@dataclass(slots=True)
class Request:
    """One URL to ask, for one job.

    `meta`, `cb_kwargs` and `headers` hold what msgpack can: text, numbers, bytes, lists and
    dictionaries with text keys. `key` tells requests that are not filtered apart; the frontier
    sets it.
    """

    job: str
    url: str
    method: str = "GET"
    headers: dict[str, Any] = field(default_factory=dict)
    body: bytes = b""
    callback: str = ""
    errback: str = ""
    depth: int = 0
    priority: int = 0
    dont_filter: bool = False
    meta: dict[str, Any] = field(default_factory=dict)
    cb_kwargs: dict[str, Any] = field(default_factory=dict)
    key: str = ""
    attempts: int = 0
    crashes: int = 0

    @classmethod
    def start(cls, job: str) -> Request:
        """A job's first request: the run of its spider's `start()`, made once in the cluster."""
        return cls(job=job, url=START)


def check(request: Request) -> None:
    """Refuse what the types rule out and a caller from elsewhere may still send.

    A script has no way back once it has begun: nothing that it cannot read may reach it.
    """
    given: Any = request
    if not isinstance(given.url, str):
        raise BadRequest(url=repr(given.url)[:200], reason="its URL is no text")
    for name, number in (("priority", given.priority), ("depth", given.depth)):
        if not isinstance(number, int) or not -MOST < number < MOST:
            raise BadRequest(url=given.url, reason=f"its {name} is no usable number: {number!r}")
    if not (isinstance(given.method, str) and given.method.isascii()):
        raise BadRequest(url=given.url, reason=f"{given.method!r} is no method")
    if not isinstance(given.body, bytes):
        raise BadRequest(url=given.url, reason="its body is not bytes")


def pack(request: Request, *, url: str, host: str) -> bytes:
    """A queue entry of a request whose canonical URL is `url`."""
    extras = _extras(request)
    body: list[Any] = [_shorten(url, host)]
    if request.depth or extras:
        body.append(request.depth)
    if extras:
        body.append(extras)
    try:
        return _NEW + ormsgpack.packb(body)
    except (TypeError, ValueError) as error:
        raise BadRequest(url=request.url, reason=_unserialisable(extras, error)) from error


def unpack(entry: bytes, *, job: str, host: str, priority: int) -> Request:
    """The request of a queue entry."""
    try:
        body = ormsgpack.unpackb(entry[2:])
        if not isinstance(body, list):
            raise TypeError(f"{type(body).__name__} is no request")  # noqa: TRY301
        extras = body[2] if len(body) > 2 else {}
        return Request(
            job=job,
            url=_lengthen(body[0], host),
            depth=body[1] if len(body) > 1 else 0,
            priority=priority,
            attempts=entry[0],
            crashes=entry[1],
            **{_EXTRAS[int(number)]: value for number, value in extras.items()},
        )
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        raise BadReply(operation="lease", reason=f"{error} in {entry[:80]!r}") from error


def _extras(request: Request) -> dict[str, Any]:
    """What differs from the defaults, by number; most requests have nothing but a callback."""
    given = zip(_NUMBERS, _values(request), _DEFAULTS, strict=True)
    return {number: value for number, value, default in given if value and value != default}


def _unserialisable(extras: dict[str, Any], error: Exception) -> str:
    for number, value in extras.items():
        try:
            ormsgpack.packb(value)
        except (TypeError, ValueError) as reason:
            return f"its {_EXTRAS[int(number)]} cannot be stored: {reason}"
    return str(error)


def _shorten(url: str, host: str) -> str:
    prefix = len(host) + 8
    if url.startswith("https://") and url[8:prefix] == host and url[prefix : prefix + 1] == "/":
        return url[prefix:]
    if (
        url.startswith("http://")
        and url[7 : prefix - 1] == host
        and url[prefix - 1 : prefix] == "/"
    ):
        return ":" + url[prefix - 1 :]
    return url


def _lengthen(text: str, host: str) -> str:
    if text.startswith("/"):
        return f"https://{host}{text}"
    if text.startswith(":"):
        return f"http://{host}{text[1:]}"
    return text
