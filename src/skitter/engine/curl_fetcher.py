"""Fetches with libcurl, by pycurl: half of aiohttp's CPU for a fetch by itself (decision 8).

libcurl would send a second time by itself when a connection that was kept open turns out to be
closed; it asks before each sending, and the second time is refused.
"""

from __future__ import annotations

import asyncio
import re
import ssl
from dataclasses import dataclass, field
from http.client import HTTPException
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pycurl  # type: ignore[import-not-found, import-untyped, unused-ignore]
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    ResponseDataLossError,
    UnsupportedURLSchemeError,
)

from skitter.engine.curl_multi import CurlMulti
from skitter.engine.deadlines import Deadline, Deadlines
from skitter.engine.fetcher import SAYS_EMPTY, Answer, Asked, Reception
from skitter.engine.verdicts import NotSent
from skitter.resolve import parse_rules, resolve

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

KEPT_OPEN_S = 4
DNS_KEPT_S = 300
MOST_IDLE = 1_000
# libcurl's numbers for what pycurl has no names for.
_SUPPRESS_CONNECT_HEADERS = 265
_E_PROXY = 97
_ERRORS: dict[int, type[Exception]] = {
    pycurl.E_COULDNT_RESOLVE_HOST: CannotResolveHostError,
    pycurl.E_COULDNT_CONNECT: DownloadConnectionRefusedError,
    pycurl.E_COULDNT_RESOLVE_PROXY: DownloadConnectionRefusedError,
    pycurl.E_SSL_CONNECT_ERROR: DownloadFailedError,
    pycurl.E_PEER_FAILED_VERIFICATION: DownloadFailedError,
    pycurl.E_UNSUPPORTED_PROTOCOL: UnsupportedURLSchemeError,
    pycurl.E_URL_MALFORMAT: UnsupportedURLSchemeError,
}
_TLS_CODES = (pycurl.E_SSL_CONNECT_ERROR, pycurl.E_PEER_FAILED_VERIFICATION)
_PROXY_CODES = (pycurl.E_COULDNT_RESOLVE_PROXY, pycurl.E_COULDNT_CONNECT, _E_PROXY)
_RESET_CODES = (pycurl.E_GOT_NOTHING, pycurl.E_SEND_ERROR, pycurl.E_ABORTED_BY_CALLBACK)
_PROTOCOLS = {pycurl.CURL_HTTP_VERSION_1_0: "HTTP/1.0", pycurl.CURL_HTTP_VERSION_2_0: "HTTP/2"}
_TLS = {
    ssl.TLSVersion.TLSv1: (pycurl.SSLVERSION_TLSv1_0, pycurl.SSLVERSION_MAX_TLSv1_0),
    ssl.TLSVersion.TLSv1_1: (pycurl.SSLVERSION_TLSv1_1, pycurl.SSLVERSION_MAX_TLSv1_1),
    ssl.TLSVersion.TLSv1_2: (pycurl.SSLVERSION_TLSv1_2, pycurl.SSLVERSION_MAX_TLSv1_2),
    ssl.TLSVersion.TLSv1_3: (pycurl.SSLVERSION_TLSv1_3, pycurl.SSLVERSION_MAX_TLSv1_3),
}


class ProxyFailed(OSError):
    """The proxy could not be reached, or did not let the request through."""


@dataclass(slots=True)
class _Transfer:
    """What comes in for one request, as libcurl hands it over. halt: called when it must wait."""

    asked: Asked
    reception: Reception
    halt: Callable[[], None]
    lines: list[bytes] = field(default_factory=list)
    parts: list[bytes] = field(default_factory=list)
    status: int = 0
    received: int = 0
    sendings: int = 0
    is_late: bool = False
    is_enough: bool = False
    error: Exception | None = None

    def may_send(self, *_connection: Any) -> int:
        """Asked right before each sending."""
        self.is_late = self.is_late or not self.asked.may_send()
        if self.sendings or self.is_late:
            return int(pycurl.PREREQFUNC_ABORT)
        self.sendings += 1
        return int(pycurl.PREREQFUNC_OK)

    def take_line(self, line: bytes) -> int | None:
        """A line of the head; what is informational is left out, and so are trailers."""
        if self.status:
            return None
        if line not in {b"\r\n", b"\n"}:
            self.lines.append(line)
            return None
        words = self.lines[0].split(None, 2)
        status = int(words[1]) if len(words) > 1 and words[1].isdigit() else 0
        if 100 <= status < 200 and status != 101:
            self.lines.clear()
            return None
        self.status = status
        return self._ask(self._head)

    def take_part(self, data: bytes) -> int | None:
        """Some of the body; it stays in its connection, and comes again, while there is no room."""
        if self.reception.crowded():
            self.halt()
            return int(pycurl.WRITEFUNC_PAUSE)
        self.parts.append(data)
        self.received += len(data)
        return self._ask(self._part)

    def _ask(self, go_on: Any) -> int | None:
        """Nothing that is raised may pass through libcurl."""
        try:
            self.is_enough = not go_on()
        except Exception as error:  # noqa: BLE001 - it is raised again behind the transfer
            self.error = error
            return -1
        return -1 if self.is_enough else None

    def _head(self) -> bool:
        return self.reception.head(self.status, _pairs(self.lines[1:]))

    def _part(self) -> bool:
        return self.reception.part(self.parts[-1], self.received)


class _Waiting:
    """Halts a transfer until there is room; its deadline is as far off afterwards as before."""

    deadline: Deadline

    def __init__(self, easy: Any, reception: Reception) -> None:
        self._easy = easy
        self._reception = reception
        self._task: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """Go on when there is room; libcurl has been told to leave the body where it is."""
        self._task = asyncio.ensure_future(self._wait())

    def end(self) -> None:
        """The transfer is over."""
        if self._task:
            self._task.cancel()

    async def _wait(self) -> None:
        self.deadline.halt()
        await self._reception.room()
        self.deadline.go_on()
        self._easy.pause(pycurl.PAUSE_CONT)


class CurlFetcher:
    """One multi handle for one crawler. resolve: rules that come before DNS."""

    def __init__(
        self,
        *,
        resolve: Sequence[str] = (),
        tls: Callable[[], ssl.SSLContext] = ssl.create_default_context,
        local_address: tuple[str, int] | None = None,
    ) -> None:
        self._rules = parse_rules(resolve)
        self._multi = CurlMulti()
        self._deadlines = Deadlines()
        self._idle: list[Any] = []
        self._options = [*_USUAL, *_tls_options(tls())]
        if local_address:
            self._options.append((pycurl.INTERFACE, f"host!{local_address[0]}"))
            self._options.append((pycurl.LOCALPORT, local_address[1]))

    async def close(self) -> None:
        """Close all connections."""
        self._deadlines.close()
        self._multi.close()

    async def fetch(self, asked: Asked, reception: Reception) -> Answer:
        """Send one request, and give its answer."""
        easy = self._idle.pop() if self._idle else pycurl.Curl()
        waiting = _Waiting(easy, reception)
        transfer = _Transfer(asked, reception, waiting.begin)
        try:
            self._set_up(easy, asked, transfer)
        except (pycurl.error, UnicodeError) as error:
            raise UnsupportedURLSchemeError(str(error)) from error
        code, text = await self._run(easy, asked, waiting)
        answer = Answer(
            transfer.status,
            transfer.parts[0] if len(transfer.parts) == 1 else b"".join(transfer.parts),
            easy.getinfo(pycurl.PRIMARY_IP),
            _PROTOCOLS.get(easy.getinfo(pycurl.INFO_HTTP_VERSION), "HTTP/1.1"),
        )
        easy.reset()
        if len(self._idle) < MOST_IDLE:
            self._idle.append(easy)
        _check(transfer, asked, answer, code=code, text=text)
        return answer

    async def _run(self, easy: Any, asked: Asked, waiting: _Waiting) -> tuple[int, str]:
        try:
            with self._deadlines.within(asked.timeout_s) as waiting.deadline:
                return await self._multi.run(easy)
        except TimeoutError as error:
            text = f"Getting {asked.url} took longer than {asked.timeout_s} seconds."
            raise DownloadTimeoutError(text) from error
        finally:
            waiting.end()

    def _set_up(self, easy: Any, asked: Asked, transfer: _Transfer) -> None:
        for option, value in self._options:
            easy.setopt(option, value)
        easy.setopt(pycurl.URL, asked.url)
        easy.setopt(pycurl.HTTPHEADER, _header_lines(asked))
        easy.setopt(pycurl.PROXY, asked.proxy)
        easy.setopt(pycurl.SSL_SESSIONID_CACHE, not asked.proxy)  # see tls_sessions
        easy.setopt(pycurl.PREREQFUNCTION, transfer.may_send)
        easy.setopt(pycurl.HEADERFUNCTION, transfer.take_line)
        easy.setopt(pycurl.WRITEFUNCTION, transfer.take_part)
        if asked.method == "HEAD":
            easy.setopt(pycurl.NOBODY, 1)
        elif asked.method != "GET" or asked.body:
            if asked.body or asked.method in SAYS_EMPTY:
                easy.setopt(pycurl.POSTFIELDSIZE, len(asked.body))
                easy.setopt(pycurl.POSTFIELDS, asked.body)
            easy.setopt(pycurl.CUSTOMREQUEST, asked.method)
        if self._rules and not asked.proxy:
            self._place(easy, asked.url)

    def _place(self, easy: Any, url: str) -> None:
        """Where a rule says that a host is; an address in a URL is where it says."""
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
        try:
            ip_address(host)
        except ValueError:
            address, there = resolve(self._rules, host, port)
            place = f"[{address}]" if ":" in address else address
            if (address, there) != (host, port):
                easy.setopt(pycurl.CONNECT_TO, [f"{host}:{port}:{place}:{there}"])


_USUAL = (
    (pycurl.NOSIGNAL, 1),
    (pycurl.CONNECTTIMEOUT, 86_400),  # the time of a request is kept by the loop
    (pycurl.PATH_AS_IS, 1),
    (pycurl.HTTP_VERSION, pycurl.CURL_HTTP_VERSION_1_1),
    (pycurl.MAXAGE_CONN, KEPT_OPEN_S),
    (pycurl.DNS_CACHE_TIMEOUT, DNS_KEPT_S),
    (_SUPPRESS_CONNECT_HEADERS, 1),
    (pycurl.NOPROXY, ""),
)


def _tls_options(tls: ssl.SSLContext) -> list[tuple[int, Any]]:
    verified = tls.verify_mode == ssl.CERT_REQUIRED
    lowest = _TLS.get(tls.minimum_version, (pycurl.SSLVERSION_DEFAULT, 0))[0]
    highest = _TLS.get(tls.maximum_version, (0, 0))[1]
    options = [
        (pycurl.SSL_VERIFYPEER, int(verified)),
        (pycurl.SSL_VERIFYHOST, 2 if verified and tls.check_hostname else 0),
        (pycurl.SSLVERSION, lowest | highest),
    ]
    authorities = ssl.get_default_verify_paths().cafile
    return [*options, (pycurl.CAINFO, authorities)] if verified and authorities else options


def _header_lines(asked: Asked) -> list[bytes]:
    """The headers in their order; libcurl's own are off unless they are among them."""
    given = {name.lower() for name, _ in asked.headers}
    lines = [f"{name}: {value}" if value else f"{name};" for name, value in asked.headers]
    if re.search(r"[\r\n\0]", "".join(lines)):  # libcurl would send it, and so another header
        raise ValueError(f"a header of {asked.url} has a line break or a null byte in it")
    own = ("Accept", "Content-Type", "Expect", "User-Agent")
    lines += [f"{name}:" for name in own if name.lower() not in given]
    return [line.encode("latin-1") for line in lines]


def _pairs(lines: list[bytes]) -> list[tuple[bytes, bytes]]:
    """Names and values; a line that goes on is part of the one before."""
    found: list[tuple[bytes, bytes]] = []
    for line in lines:
        if line[:1] in {b" ", b"\t"} and found:
            found[-1] = (found[-1][0], found[-1][1] + b" " + line.strip())
            continue
        name, _, value = line.partition(b":")
        found.append((name.strip(), value.strip()))
    return found


def _check(transfer: _Transfer, asked: Asked, answer: Answer, *, code: int, text: str) -> None:
    """Raise what went wrong, unless it was meant to end so."""
    if transfer.error:
        raise transfer.error
    if transfer.is_late:
        raise NotSent
    if transfer.is_enough or (not code and transfer.status):
        return
    told = f"{text or 'the head was cut off'} ({asked.url})"
    if not transfer.status:
        # Sent, it was no bad URL: what came is no HTTP.
        odd = transfer.sendings and code == pycurl.E_UNSUPPORTED_PROTOCOL
        kind = DownloadFailedError if odd else _ERRORS.get(code, DownloadFailedError)
        raise kind(told) from _cause(code, text, proxy=bool(asked.proxy))
    if not transfer.reception.keeps_torn:
        raise ResponseDataLossError(told)
    answer.flags.append("dataloss")


def _cause(code: int, text: str, *, proxy: bool) -> Exception | None:
    """What failed in Python's own terms, by which failures are told apart."""
    if proxy and (code in _PROXY_CODES or "CONNECT" in text):
        return ProxyFailed(text)
    if code in _TLS_CODES:
        return ssl.SSLError(text)
    reset = code in _RESET_CODES or text.startswith("Recv failure")
    known = code in _ERRORS and code != pycurl.E_UNSUPPORTED_PROTOCOL
    return None if not code or reset or known else HTTPException(text)
