"""Plain GETs on aiohttp's connections, without its session.

Nearly all that a crawler sends is a GET without a body or a proxy, with headers that are ready.
A session works out anew for each one what it could need (cookies, redirects, proxies, traces, a
body's encoding), and takes as long for it as all the rest. Here such a request is written to its
connection as it is; connecting, reading and the pool of connections stay aiohttp's. Whatever is
not that plain takes the session's way.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, Any

import aiohttp
import yarl
from aiohttp.helpers import TimerNoop
from aiohttp.http_exceptions import HttpProcessingError

from skitter.engine.verdicts import NotSent

if TYPE_CHECKING:
    from aiohttp.connector import Connection

    from skitter.engine.fetcher import Asked

MOST_ORIGINS = 1_000
SWITCHING = 101
_is_origin = re.compile(r"https?://[a-z0-9._-]+(?::[0-9]{1,5})?").fullmatch
_NO_TIMEOUT = aiohttp.ClientTimeout(total=None)
_NO_TIMER = TimerNoop()


Peer = tuple[str, Any]


class Origin(aiohttp.ClientRequest):
    """What the pool has to know to connect to an origin; never sent itself."""

    def __init__(self, origin: str, tls: Any) -> None:
        super().__init__("GET", yarl.URL(f"{origin}/"), ssl=tls)
        self.line = f"Host: {self.headers['Host']}"

    @cached_property
    def connection_key(self) -> Any:
        """Worked out once."""
        return super().connection_key


class Gets:
    """Those of one fetcher. tls, limits: as the session has them."""

    def __init__(
        self, connector: aiohttp.BaseConnector, *, tls: Any, limits: dict[str, int]
    ) -> None:
        self._connector = connector
        self._tls = tls
        self._limits = limits
        self._origins: dict[str, Origin] = {}

    def text(self, asked: Asked) -> tuple[Origin, bytes] | None:
        """Where to, and what to send; None if it is not plain."""
        if asked.method != "GET" or asked.body or asked.proxy:
            return None
        at = asked.url.find("/", len("https://"))
        name, path = asked.url[:at], asked.url[at:]
        if at < 0 or not _is_plain(path):
            return None
        origin = self._origins.get(name) or self._add(name)
        if origin is None:
            return None
        lines = [f"GET {path} HTTP/1.1", origin.line]
        for name, value in asked.headers:
            if name.lower() == "host":
                return None
            lines.append(f"{name}: {value}")
        text, ends = "\r\n".join(lines), len(lines) - 1
        if "\0" in text or text.count("\n") != ends or text.count("\r") != ends:
            return None  # the session says what is wrong with it
        return origin, f"{text}\r\n\r\n".encode("latin-1")

    async def begin(
        self, origin: Origin, text: bytes, asked: Asked
    ) -> tuple[Connection, Peer, Any, aiohttp.StreamReader]:
        """Send a request; the connection, its other end, the answer's head, and its body to come.

        The connection is the caller's to release, or to close.
        """
        connection = await self._connector.connect(origin, [], _NO_TIMEOUT)
        try:
            peer = peer_of(connection.transport)  # a server may be gone when its answer is read
            self._send(connection, text, asked)
            protocol: Any = connection.protocol
            while True:
                head, body = await protocol.read()
                if not 100 <= head.code < 200 or head.code == SWITCHING:
                    return connection, peer, head, body
        except HttpProcessingError as error:
            connection.close()
            raise _unreadable(error, asked, origin) from error
        except BaseException:
            connection.close()
            raise

    def _send(self, connection: Connection, text: bytes, asked: Asked) -> None:
        protocol: Any = connection.protocol
        protocol.set_response_params(
            timer=_NO_TIMER,
            read_until_eof=True,
            auto_decompress=False,
            **self._limits,
        )
        if not asked.may_send():
            raise NotSent
        transport = protocol.transport
        if transport is None or transport.is_closing():
            raise aiohttp.ClientConnectionResetError("Cannot write to closing transport")
        transport.write(text)

    def _add(self, text: str) -> Origin | None:
        if not _is_origin(text):
            return None
        if len(self._origins) >= MOST_ORIGINS:
            self._origins.clear()
        origin = self._origins[text] = Origin(text, self._tls)
        return origin


def _is_plain(path: str) -> bool:
    """Whether there is nothing in it that a client would have to write in another way."""
    if path[-1:] == "?" or not path.isascii() or not path.isprintable():
        return False
    return " " not in path and "#" not in path


def _unreadable(error: HttpProcessingError, asked: Asked, origin: Origin) -> Exception:
    """As the session tells of an answer that is no HTTP."""
    url = yarl.URL(asked.url, encoded=True)
    info = aiohttp.RequestInfo(url, asked.method, origin.request_info.headers, url)
    return aiohttp.ClientResponseError(
        info, (), status=error.code, message=error.message, headers=error.headers
    )


def peer_of(transport: Any) -> Peer:
    """The address at the other end, and its certificate if it has shown one."""
    peer = transport.get_extra_info("peername")
    secured = transport.get_extra_info("ssl_object")
    certificate = secured.getpeercert(binary_form=True) if secured is not None else None
    return (peer[0] if peer else ""), certificate
