"""Sends a Scrapy request by a fetcher, and makes Scrapy's response of the answer.

Limits of time and size, signals of heads and bytes, and what a request's meta says of them are as
in Scrapy's own download handlers.
"""

from __future__ import annotations

import logging
import re
from base64 import b64decode
from functools import lru_cache
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from scrapy import signals
from scrapy.exceptions import DownloadCancelledError, StopDownload
from scrapy.utils.url import add_http_if_no_scheme

from skitter.engine.fetcher import Asked
from skitter.engine.responses import headers_of, kind_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from scrapy import Request as ScrapyRequest
    from scrapy.crawler import Crawler
    from scrapy.http import Headers, Response

    from skitter.engine.asking import Head
    from skitter.engine.fetcher import Answer, Fetcher
    from skitter.engine.listeners import Hearing

logger = logging.getLogger(__name__)

NO_TIMEOUT_S = 60.0
FIRST_BYTES = "skitter_first_bytes"
"""In a request's meta: how much of the body is wanted; the rest is left unread."""
_UNBOUNDED = 1 << 62
_PROXY_AUTHORIZATION = b"Proxy-Authorization"
_CONTENT_LENGTH = b"Content-Length"
_is_name = re.compile(rb"[A-Za-z0-9!#$%&'*+.^_`|~-]+").fullmatch
MOST_NAMES = 1_000
WITHOUT_BODY = (204, 304)
_address = lru_cache(maxsize=4096)(ip_address)


class Sending:
    """One crawler's requests on their way out. fetcher_from: by the address they leave from."""

    def __init__(
        self, crawler: Crawler, fetcher_from: Callable[[Any], Fetcher], hears: Hearing
    ) -> None:
        settings, spider = crawler.settings, crawler.spider
        self.crawler = crawler
        self.hears = hears
        # As attributes of the spider they are old, and still work in Scrapy.
        self.max_bytes = getattr(spider, "download_maxsize", settings.getint("DOWNLOAD_MAXSIZE"))
        self.warn_bytes = getattr(spider, "download_warnsize", settings.getint("DOWNLOAD_WARNSIZE"))
        self.fail_on_dataloss = settings.getbool("DOWNLOAD_FAIL_ON_DATALOSS")
        self._fetcher_from = fetcher_from
        self._fetcher = fetcher_from(settings.get("DOWNLOAD_BIND_ADDRESS"))

    async def send(self, request: ScrapyRequest, head: Head) -> Response:
        """Ask at once: whoever calls has the turn."""
        meta = request._meta or {}  # noqa: SLF001 - the property makes a dictionary
        reception = _Reception(self, request, head)
        asked = Asked(
            request.method,
            request._url,  # noqa: SLF001
            _header_list(request),
            request._body,  # noqa: SLF001
            meta.get("download_timeout") or NO_TIMEOUT_S,
            _proxy(request) if meta.get("proxy") else "",
            head.may_send,
        )
        own = meta.get("bindaddress")
        fetcher = self._fetcher_from(own) if own else self._fetcher
        answer = await fetcher.fetch(asked, reception)
        request.meta["download_latency"] = head.at - head.begun
        response = _response(request, reception.headers, answer)
        if reception.stop:
            _stop(response, reception.stop)
        if self.hears(signals.response_downloaded):
            self.crawler.signals.send_catch_log(
                signal=signals.response_downloaded,
                response=response,
                request=request,
                spider=self.crawler.spider,
            )
        return response


class _Reception:
    """Watches one answer come in."""

    __slots__ = (
        "_first",
        "_head",
        "_max",
        "_request",
        "_sending",
        "_warn",
        "headers",
        "keeps_torn",
        "stop",
        "watches_body",
    )

    def __init__(self, sending: Sending, request: ScrapyRequest, head: Head) -> None:
        meta = request._meta or {}  # noqa: SLF001
        self._sending = sending
        self._request = request
        self._head = head
        self._first: int = meta.get(FIRST_BYTES, _UNBOUNDED)
        self._max = meta.get("download_maxsize", sending.max_bytes)
        self._warn = meta.get("download_warnsize", sending.warn_bytes)
        self.headers: Headers
        self.keeps_torn = not meta.get("download_fail_on_dataloss", sending.fail_on_dataloss)
        self.stop: StopDownload | None = None
        self.watches_body = sending.hears(signals.bytes_received)

    def head(self, status: int, headers: Sequence[tuple[bytes, bytes]]) -> bool:
        """The host's clock, whoever listens, and Content-Length against the bounds."""
        self.headers = headers_of(headers)
        head = self._head
        head.arrived(status, self.headers)
        lengths = dict.get(self.headers, b"Content-Length")
        length = int(lengths[-1]) if lengths and lengths[-1].isdigit() else None
        if self._request.method == "HEAD" or status in WITHOUT_BODY:
            length = 0
        if self._sending.hears(signals.headers_received):
            self._tell(signals.headers_received, headers=self.headers, body_length=length)
            if self.stop:
                head.body.expect(0)
                return False
        self._check(length or 0, expected=True)
        head.body.expect(length)
        return True

    def part(self, data: bytes, received: int) -> bool:
        """The bounds again, for a length may be missing or wrong."""
        if self.watches_body:
            self._tell(signals.bytes_received, data=data)
        if self.stop:
            return False
        self._check(received, expected=False)
        self._head.body.received(received)
        return received < self._first

    def crowded(self) -> bool:
        """Whether the bodies in hand leave no room for more of this one."""
        return self._head.body.crowded()

    async def room(self) -> None:
        """Wait for it."""
        await self._head.body.room()

    def _check(self, size: int, *, expected: bool) -> None:
        if self._max and size > self._max:
            text = _scrapys().get_maxsize_msg(size, self._max, self._request, expected=expected)
            logger.warning(text)
            raise DownloadCancelledError(text)
        if self._warn and size > self._warn:
            text = _scrapys().get_warnsize_msg(size, self._warn, self._request, expected=expected)
            logger.warning(text)
            self._warn = 0

    def _tell(self, signal: object, **what: Any) -> None:
        crawler = self._sending.crawler
        self.stop = _scrapys().check_stop_download(signal, crawler, self._request, **what)


def _scrapys() -> Any:
    """What Scrapy's own handlers share. It brings in Twisted's client, and is seldom needed."""
    from scrapy.utils import _download_handlers  # noqa: PLC0415 - see above

    return _download_handlers


class _Names(dict[bytes, str]):
    """The names of headers as text; few different ones are sent."""

    def __missing__(self, name: bytes) -> str:
        if not _is_name(name):
            raise _bad_name(name)
        if len(self) >= MOST_NAMES:
            self.clear()
        text = self[name] = name.decode("ascii")
        return text


_NAMES = _Names()


def _bad_name(name: bytes) -> Exception:
    """What Twisted says of a name that no header can have."""
    from twisted.web.http_headers import InvalidHeaderName  # noqa: PLC0415 - seldom needed

    return InvalidHeaderName(name)


def _header_list(request: ScrapyRequest) -> list[tuple[str, str]]:
    """All headers in their order, as text; as Twisted has it, a line break becomes a blank.

    The length of a body is the fetcher's to say.
    """
    headers = request.headers
    found = [
        (_NAMES[name], value.decode("latin-1"))
        for name, values in dict.items(headers)
        if name != _PROXY_AUTHORIZATION
        for value in values
    ]
    if request._body and _CONTENT_LENGTH in dict.keys(headers):  # noqa: SLF001
        found = [pair for pair in found if pair[0] != "Content-Length"]
    for _, value in found:
        if "\n" in value or "\r" in value:
            return [(name, _on_one_line(text)) for name, text in found]
    return found


def _on_one_line(text: str) -> str:
    """Bytes know fewer line breaks than text does."""
    return b" ".join(text.encode("latin-1").splitlines()).decode("latin-1")


def _response(request: ScrapyRequest, headers: Headers, answer: Answer) -> Response:
    url = request._url.partition("#")[0]  # noqa: SLF001
    response = kind_of(headers, url, answer.body)(
        url,
        status=answer.status,
        body=answer.body,
        flags=answer.flags,
        certificate=answer.certificate,
        ip_address=_address(answer.address) if answer.address else None,
        protocol=answer.protocol,
    )
    response.headers = headers
    return response


def _stop(response: Response, stop: StopDownload) -> None:
    response.flags.append("download_stopped")
    if stop.fail:
        stop.response = response
        raise stop


def _proxy(request: ScrapyRequest) -> str:
    """The proxy's URL with the credentials of the Proxy-Authorization header."""
    url = add_http_if_no_scheme(request.meta["proxy"])
    header = request.headers.get(_PROXY_AUTHORIZATION)
    if not header:
        return url
    user, _, password = _decoded(header).partition(":")
    parts = urlsplit(url)
    netloc = f"{quote(user, safe='')}:{quote(password, safe='')}@{parts.netloc.rpartition('@')[2]}"
    return parts._replace(netloc=netloc).geturl()


def _decoded(header: bytes) -> str:
    kind, _, data = header.partition(b" ")
    if kind.lower() != b"basic":
        raise ValueError("a Proxy-Authorization other than Basic cannot be sent")
    return b64decode(data).decode("latin-1")  # a character for each byte, whatever they mean
