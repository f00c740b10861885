"""Fetches with aiohttp.

A connection that was kept open may turn out to be closed when it is used again; aiohttp would then
send once more by itself, at once, and nobody's clock knows: that is off. Connections are kept for
less time than common servers keep them, so it happens seldom.
"""

from __future__ import annotations

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

from skitter.engine.fetcher import Answer, Asked, Reception
from skitter.resolve import Resolver, parse_rules

if TYPE_CHECKING:
    import ssl
    from collections.abc import Iterable, Sequence

KEPT_OPEN_S = 4.0
DNS_KEPT_S = 300
LONGEST_LINE = 16_384  # as in Scrapy's own client
_NOT_ADDED: CIMultiDict[None] = CIMultiDict({"Content-Type": None})
_BAD_URL = (aiohttp.InvalidUrlClientError, aiohttp.NonHttpUrlClientError)
_PROTOCOLS = {(1, 1): "HTTP/1.1", (1, 0): "HTTP/1.0"}


class _Request(aiohttp.ClientRequest):
    """Adds no header of its own: aiohttp would work out for each request which ones not to add."""

    def update_auto_headers(self, skip_auto_headers: Iterable[str] | None) -> None:  # noqa: ARG002
        self._skip_auto_headers = _NOT_ADDED


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
        self._timeouts: dict[float, aiohttp.ClientTimeout] = {}
        self._session = aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            request_class=_Request,
            response_class=_Response,
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
        try:
            return await self._fetch(asked, reception)
        except TimeoutError as error:
            text = f"Getting {asked.url} took longer than {asked.timeout_s} seconds."
            raise DownloadTimeoutError(text) from error
        except _BAD_URL as error:
            raise UnsupportedURLSchemeError(str(error)) from error
        except aiohttp.ClientConnectorDNSError as error:
            raise CannotResolveHostError(str(error)) from error
        except aiohttp.ClientConnectorError as error:
            raise DownloadConnectionRefusedError(str(error)) from error
        except aiohttp.ClientError as error:
            raise DownloadFailedError(str(error)) from error

    async def _fetch(self, asked: Asked, reception: Reception) -> Answer:
        async with self._session.request(
            asked.method,
            yarl.URL(asked.url, encoded=True),
            data=asked.body or None,
            headers=asked.headers,
            timeout=self._timeout(asked.timeout_s),
            ssl=self._tls,
            allow_redirects=False,
            proxy=asked.proxy or None,
        ) as response:
            assert isinstance(response, _Response)  # noqa: S101 - as the session was told
            answer = _answer(response)
            if reception.head(response.status, response.raw_headers):
                await _read(response, reception, answer)
            return answer

    def _timeout(self, timeout_s: float) -> aiohttp.ClientTimeout:
        if timeout_s not in self._timeouts:
            if len(self._timeouts) > 1000:
                self._timeouts.clear()
            self._timeouts[timeout_s] = aiohttp.ClientTimeout(total=timeout_s)
        return self._timeouts[timeout_s]


def _answer(response: _Response) -> Answer:
    version = response.version
    protocol = _PROTOCOLS.get((version.major, version.minor), "HTTP/1.1") if version else "HTTP/1.1"
    return Answer(response.status, b"", response.address, protocol, response.certificate)


async def _read(response: _Response, reception: Reception, answer: Answer) -> None:
    """Read the body, part by part: however long it is, no more is held than is wanted."""
    content, parts, received = response.content, [], 0
    try:
        while data := await content.readany():
            parts.append(data)
            received += len(data)
            if not reception.part(data, received):
                break
    except aiohttp.ClientPayloadError as error:
        if not reception.keeps_torn:
            raise ResponseDataLossError(str(error)) from error
        answer.flags.append("dataloss")
    answer.body = parts[0] if len(parts) == 1 else b"".join(parts)
