"""Through which address a request leaves: the lease names an egress, the pool of proxies its URL.

The proxy stands in the request's meta only while it is sent: requests made from it later leave by
an egress of their own. A proxy that a spider names itself is left alone.
"""

from __future__ import annotations

import base64
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit, urlunsplit

from skitter.engine.verdicts import NotSent
from skitter.errors import UnsupportedSetting
from skitter.policies.failures import classify

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from scrapy import Request as ScrapyRequest
    from scrapy.http import Response

    from skitter.policies.proxies import ProxyPool

AUTHORIZATION = b"Proxy-Authorization"
BODY_PREFIX = 64 << 10


class Exit:
    """One request's way out, from its claim to the report on it."""

    def __init__(self, pool: ProxyPool, egress: str, host: str) -> None:
        name = pool.claim(egress, host)
        if name is None:
            raise NotSent
        self._pool = pool
        self._name = name
        self._host = host
        self._url = pool.url_of(name)

    @property
    def is_direct(self) -> bool:
        """Whether no proxy of the pool stands between."""
        return self._url is None

    async def through(
        self, request: ScrapyRequest, send: Callable[[], Awaitable[Response]]
    ) -> Response:
        """Send a request this way."""
        if self._url is None or _has_own_proxy(request):
            return await send()
        with self._used_by(request, self._url):
            return await send()

    @contextmanager
    def _used_by(self, request: ScrapyRequest, url: str) -> Iterator[None]:
        kept = {name: request.meta.pop(name, None) for name in ("proxy", "_scheme_proxy")}
        address, credentials = _split(url)
        request.meta["proxy"] = address
        if credentials:
            request.headers[AUTHORIZATION] = b"Basic " + credentials
        try:
            yield
        finally:
            request.headers.pop(AUTHORIZATION, None)
            request.meta.pop("proxy", None)
            request.meta.update({name: value for name, value in kept.items() if value is not None})

    def answered(self, request: ScrapyRequest, response: Response) -> bool:
        """Judge a response; True: it should go through another one, and does not count."""
        if self._url is None:
            return False
        return self._report(
            request.url, status=response.status, body_prefix=response.body[:BODY_PREFIX]
        )

    def failed(self, request: ScrapyRequest, error: BaseException) -> bool:
        """Judge an error in place of a response; True as above."""
        if self._url is None:
            return False
        return self._report(request.url, error=f"{classify(error)}: {error}")

    def _report(self, url: str, **what: Any) -> bool:
        return self._pool.report(self._name, self._host, url=url, **what).retry


def check_schemes(pool: ProxyPool) -> None:
    """Raise UnsupportedSetting for proxies that Scrapy's download handlers cannot use."""
    for row in pool.snapshot():
        if row.proxy.startswith("socks"):
            hint = "Scrapy's download handlers know no SOCKS proxies: name HTTP ones."
            raise UnsupportedSetting(name="proxies.urls", value=row.proxy, hint=hint)


def _has_own_proxy(request: ScrapyRequest) -> bool:
    """Named by the spider; one that Scrapy took from the environment is marked by it."""
    return bool(request.meta.get("proxy")) and "_scheme_proxy" not in request.meta


def _split(url: str) -> tuple[str, bytes]:
    """A proxy's address without its credentials, and these as a header wants them."""
    parts = urlsplit(url)
    address = urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], "", "", ""))
    if not parts.username:
        return address, b""
    text = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return address, base64.b64encode(text.encode())
