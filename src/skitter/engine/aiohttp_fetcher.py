"""Fetches with aiohttp.

A connection that was kept open may turn out to be closed when it is used again; aiohttp would then
send once more by itself, at once, and nobody's clock knows: that is off. Connections are kept for
less time than common servers keep them, so it happens seldom.
"""

from __future__ import annotations

import ssl
from contextvars import ContextVar
from functools import cached_property
from typing import TYPE_CHECKING, Any

import aiohttp
import yarl
from multidict import CIMultiDict
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    ResponseDataLossError,
    UnsupportedURLSchemeError,
)

from skitter.engine.aiohttp_gets import Gets, peer_of
from skitter.engine.aiohttp_heads import read_odd_heads
from skitter.engine.deadlines import Deadline, Deadlines
from skitter.engine.fetcher import SAYS_EMPTY, Answer, Asked, Reception, always
from skitter.engine.tls_sessions import with_sessions
from skitter.engine.verdicts import NotSent
from skitter.resolve import Resolver, parse_rules

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from skitter.engine.aiohttp_gets import Origin

KEPT_OPEN_S = 4.0
DNS_KEPT_S = 300
LONGEST_LINE = 16_384  # as in Scrapy's own client
MOST_HEADERS = 500
_NOT_ADDED: CIMultiDict[None] = CIMultiDict({"Content-Type": None})
_BAD_URL = (aiohttp.InvalidUrlClientError, aiohttp.NonHttpUrlClientError)
_PROXIES = ("http://", "https://")
_PROTOCOLS = {(1, 1): "HTTP/1.1", (1, 0): "HTTP/1.0"}
# The time of a request is kept here, for it stands still while a body waits for room.
_NO_TIMEOUT = aiohttp.ClientTimeout(total=None)
_MAY_SEND: ContextVar[Callable[[], bool]] = ContextVar("skitter_may_send", default=always)


class _Request(aiohttp.ClientRequest):
    """Asks for leave when its connection is there: to make one may take longer than a lease.

    It adds no header of its own: aiohttp would work out for each request which ones not to add.
    Nor does it wait for a 100 before it sends a body, whatever its headers expect.
    """

    def update_auto_headers(self, skip_auto_headers: Iterable[str] | None) -> None:  # noqa: ARG002
        self._skip_auto_headers = _NOT_ADDED

    def update_expect_continue(self, expect: bool = False) -> None:  # noqa: FBT001, FBT002
        """Nothing is waited for."""

    def update_body_from_data(self, body: Any, _stacklevel: int = 3) -> None:
        if body is not None or self.method in SAYS_EMPTY:
            super().update_body_from_data(body, _stacklevel)

    async def send(self, conn: Any) -> aiohttp.ClientResponse:
        if not _MAY_SEND.get()():
            raise NotSent
        return await super().send(conn)


class _Response(aiohttp.ClientResponse):
    """Keeps what is known of the connection only while it is open."""

    address = ""
    certificate: Any = None

    async def start(self, connection: Any) -> aiohttp.ClientResponse:
        self.address, self.certificate = peer_of(connection.transport)
        return await super().start(connection)


class _Connector(aiohttp.TCPConnector):
    """Says no more to a proxy than where to connect, and with which credentials, as Scrapy does."""

    def _update_proxy_auth_header_and_build_proxy_req(
        self, req: aiohttp.ClientRequest
    ) -> aiohttp.ClientRequest:
        made = super()._update_proxy_auth_header_and_build_proxy_req(req)
        for name in ("Accept", "Accept-Encoding", "User-Agent"):
            made.headers.pop(name, None)
        made.headers["Host"] = f"{req.url.raw_host}:{req.url.port}"
        return made


class AiohttpFetcher:
    """One session for one crawler. resolve: rules that come before DNS. tls makes contexts."""

    def __init__(
        self,
        *,
        resolve: Sequence[str] = (),
        tls: Callable[[], ssl.SSLContext] = ssl.create_default_context,
        local_address: tuple[str, int] | None = None,
    ) -> None:
        connector = _Connector(
            limit=0,
            resolver=Resolver(parse_rules(resolve)),
            ttl_dns_cache=DNS_KEPT_S,
            keepalive_timeout=KEPT_OPEN_S,
            local_addr=local_address,
        )
        read_odd_heads(connector)
        self._deadlines = Deadlines()
        self._make_tls = tls
        self._tls = with_sessions(tls())
        limits: dict[str, Any] = {
            "max_line_size": LONGEST_LINE,
            "max_field_size": LONGEST_LINE,
            "max_headers": MOST_HEADERS,
        }
        self._session = aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            request_class=_Request,
            response_class=_Response,
            **limits,
        )
        self._gets = Gets(connector, tls=self._tls, limits=limits)
        # There is no public way to say this.
        self._session._retry_connection = False  # noqa: SLF001

    @cached_property
    def _proxied_tls(self) -> ssl.SSLContext:
        """For proxies: without sessions."""
        return self._make_tls()

    async def close(self) -> None:
        """Close all connections."""
        self._deadlines.close()
        await self._session.close()

    async def fetch(self, asked: Asked, reception: Reception) -> Answer:
        """Send one request, and give its answer."""
        _MAY_SEND.set(asked.may_send)
        try:
            with self._deadlines.within(asked.timeout_s) as deadline:
                return await self._fetch(asked, reception, deadline)
        except TimeoutError as error:
            text = f"Getting {asked.url} took longer than {asked.timeout_s} seconds."
            raise DownloadTimeoutError(text) from error
        except _BAD_URL as error:
            raise UnsupportedURLSchemeError(str(error)) from error
        except aiohttp.ClientConnectorDNSError as error:
            raise CannotResolveHostError(str(error)) from error
        except aiohttp.ClientSSLError as error:
            raise DownloadFailedError(str(error)) from error
        except aiohttp.ClientConnectorError as error:
            raise DownloadConnectionRefusedError(str(error)) from error
        except aiohttp.ClientError as error:
            raise DownloadFailedError(str(error)) from error

    async def _fetch(self, asked: Asked, reception: Reception, deadline: Deadline) -> Answer:
        plain = self._gets.text(asked)
        if plain:
            return await self._get(*plain, asked, reception, deadline)
        if asked.proxy and not asked.proxy.startswith(_PROXIES):
            raise UnsupportedURLSchemeError(f"{asked.proxy.partition(':')[0]} proxies need curl")
        async with self._session.request(
            asked.method,
            yarl.URL(asked.url, encoded=True),
            data=asked.body or None,
            headers=asked.headers,
            timeout=_NO_TIMEOUT,
            ssl=self._proxied_tls if asked.proxy else self._tls,
            allow_redirects=False,
            proxy=asked.proxy or None,
        ) as response:
            assert isinstance(response, _Response)  # noqa: S101 - as the session was told
            protocol = _protocol(response.version)
            answer = Answer(response.status, b"", response.address, protocol, response.certificate)
            if reception.head(response.status, response.raw_headers):
                await _read(response.content, reception, answer, deadline)
            return answer

    async def _get(
        self, origin: Origin, text: bytes, asked: Asked, reception: Reception, deadline: Deadline
    ) -> Answer:
        connection, peer, head, body = await self._gets.begin(origin, text, asked)
        try:
            answer = Answer(head.code, b"", peer[0], _protocol(head.version), peer[1])
            if reception.head(head.code, head.raw_headers):
                await _read(body, reception, answer, deadline)
        except BaseException:
            connection.close()
            raise
        connection.release()  # it goes to the pool only if all of the body was read
        return answer


def _protocol(version: aiohttp.HttpVersion | None) -> str:
    return _PROTOCOLS.get((version.major, version.minor), "HTTP/1.1") if version else "HTTP/1.1"


async def _read(
    content: aiohttp.StreamReader, reception: Reception, answer: Answer, deadline: Deadline
) -> None:
    """Read the body, part by part: however long it is, no more is held than is wanted."""
    parts, received = [], 0
    try:
        while True:
            if reception.crowded():
                await _wait(reception, deadline)
            data = await content.readany()
            if not data:
                break
            parts.append(data)
            received += len(data)
            if not reception.part(data, received):
                break
    except aiohttp.ClientPayloadError as error:
        if not reception.keeps_torn:
            raise ResponseDataLossError(str(error)) from error
        answer.flags.append("dataloss")
    answer.body = parts[0] if len(parts) == 1 else b"".join(parts)


async def _wait(reception: Reception, deadline: Deadline) -> None:
    """Leave the body in its connection for now; the deadline is as far off afterwards as before."""
    deadline.halt()
    await reception.room()
    deadline.go_on()
