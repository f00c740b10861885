"""Fetches with aiohttp.

A connection that was kept open may turn out to be closed when it is used again; aiohttp would then
send once more by itself, at once, and nobody's clock knows: that is off. Connections are kept for
less time than common servers keep them, so it happens seldom.
"""

from __future__ import annotations

import asyncio
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import aiohttp
import yarl
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    ResponseDataLossError,
    UnsupportedURLSchemeError,
)

from skitter.engine.fetcher import Answer, Asked, Reception, always
from skitter.engine.verdicts import NotSent
from skitter.resolve import Resolver, parse_rules

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Sequence

KEPT_OPEN_S = 4.0
DNS_KEPT_S = 300
LONGEST_LINE = 16_384  # as in Scrapy's own client
_OWN_HEADERS = ("Accept", "Accept-Encoding", "Content-Type", "User-Agent")
_BAD_URL = (aiohttp.InvalidUrlClientError, aiohttp.NonHttpUrlClientError)
_PROTOCOLS = {(1, 1): "HTTP/1.1", (1, 0): "HTTP/1.0"}
# The time of a request is kept here, for it stands still while a body waits for room.
_NO_TIMEOUT = aiohttp.ClientTimeout(total=None)
_MAY_SEND: ContextVar[Callable[[], bool]] = ContextVar("skitter_may_send", default=always)


class _Request(aiohttp.ClientRequest):
    """Asks for leave when its connection is there: to make one may take longer than a lease."""

    async def send(self, conn: Any) -> aiohttp.ClientResponse:
        if not _MAY_SEND.get()():
            raise NotSent
        return await super().send(conn)


class _Response(aiohttp.ClientResponse):
    """Keeps what is known of the connection only while it is open."""

    address = ""
    certificate: Any = None

    async def start(self, connection: Any) -> aiohttp.ClientResponse:
        transport = connection.transport
        peer = transport.get_extra_info("peername")
        self.address = peer[0] if peer else ""
        secured = transport.get_extra_info("ssl_object")
        if secured is not None:
            self.certificate = secured.getpeercert(binary_form=True)
        return await super().start(connection)


class AiohttpFetcher:
    """One session for one crawler. resolve: rules that come before DNS."""

    def __init__(
        self,
        *,
        resolve: Sequence[str] = (),
        tls: ssl.SSLContext | None = None,
        local_address: tuple[str, int] | None = None,
    ) -> None:
        connector = aiohttp.TCPConnector(
            limit=0,
            resolver=Resolver(parse_rules(resolve)),
            ttl_dns_cache=DNS_KEPT_S,
            keepalive_timeout=KEPT_OPEN_S,
            local_addr=local_address,
        )
        self._tls: Any = True if tls is None else tls
        self._session = aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            request_class=_Request,
            response_class=_Response,
            skip_auto_headers=_OWN_HEADERS,
            max_line_size=LONGEST_LINE,
            max_field_size=LONGEST_LINE,
        )
        # There is no public way to say this.
        self._session._retry_connection = False  # noqa: SLF001

    async def close(self) -> None:
        """Close all connections."""
        await self._session.close()

    async def fetch(self, asked: Asked, reception: Reception) -> Answer:
        """Send one request, and give its answer."""
        _MAY_SEND.set(asked.may_send)
        try:
            async with asyncio.timeout(asked.timeout_s or None) as deadline:
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

    async def _fetch(self, asked: Asked, reception: Reception, deadline: asyncio.Timeout) -> Answer:
        async with self._session.request(
            asked.method,
            yarl.URL(asked.url, encoded=True),
            data=asked.body or None,
            headers=asked.headers,
            timeout=_NO_TIMEOUT,
            ssl=self._tls,
            allow_redirects=False,
            proxy=asked.proxy or None,
        ) as response:
            assert isinstance(response, _Response)  # noqa: S101 - as the session was told
            answer = _answer(response)
            if reception.head(response.status, response.raw_headers):
                await _read(response, reception, answer, deadline)
            return answer


def _answer(response: _Response) -> Answer:
    version = response.version
    protocol = _PROTOCOLS.get((version.major, version.minor), "HTTP/1.1") if version else "HTTP/1.1"
    return Answer(response.status, b"", response.address, protocol, response.certificate)


async def _read(
    response: _Response, reception: Reception, answer: Answer, deadline: asyncio.Timeout
) -> None:
    """Read the body, part by part: however long it is, no more is held than is wanted."""
    content, parts, received = response.content, [], 0
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


async def _wait(reception: Reception, deadline: asyncio.Timeout) -> None:
    """Leave the body in its connection for now; the deadline is as far off afterwards as before."""
    loop, ends_at = asyncio.get_running_loop(), deadline.when()
    began = loop.time()
    deadline.reschedule(None)
    await reception.room()
    if ends_at is not None:
        deadline.reschedule(ends_at + loop.time() - began)
