"""Why a fetch failed, in one word, whichever library failed.

Classes are known by their qualified names, so that none of the libraries need be installed; then by
errno; then by what caused them, for many wrap what they met.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator
from typing import Any

DNS, CONNECT, PROXY, TLS, TIMEOUT = "dns", "connect", "proxy", "tls", "timeout"
RESET, TRUNCATED, PROTOCOL, URL, ERROR = "reset", "truncated", "protocol", "url", "error"
SIZE, REDIRECTS = "size", "redirects"

_AIOHTTP = "aiohttp.client_exceptions."
_TWISTED = "twisted.internet.error."
_SCRAPY = "scrapy.exceptions."

_NAMES: dict[str, str] = {
    "socket.gaierror": DNS,
    "socket.herror": DNS,
    "builtins.TimeoutError": TIMEOUT,
    "builtins.ConnectionRefusedError": CONNECT,
    "builtins.ConnectionResetError": RESET,
    "builtins.ConnectionAbortedError": RESET,
    "builtins.BrokenPipeError": RESET,
    "builtins.UnicodeError": URL,
    "ssl.SSLEOFError": RESET,
    "ssl.SSLError": TLS,
    "asyncio.exceptions.IncompleteReadError": TRUNCATED,
    "http.client.IncompleteRead": TRUNCATED,
    "http.client.HTTPException": PROTOCOL,
    "zlib.error": TRUNCATED,
    f"{_AIOHTTP}ClientConnectorDNSError": DNS,
    f"{_AIOHTTP}ClientProxyConnectionError": PROXY,
    f"{_AIOHTTP}ClientHttpProxyError": PROXY,
    f"{_AIOHTTP}ClientConnectorCertificateError": TLS,
    f"{_AIOHTTP}ClientSSLError": TLS,
    f"{_AIOHTTP}ServerTimeoutError": TIMEOUT,
    f"{_AIOHTTP}ServerDisconnectedError": RESET,
    f"{_AIOHTTP}ClientPayloadError": TRUNCATED,
    f"{_AIOHTTP}ClientResponseError": PROTOCOL,
    f"{_AIOHTTP}InvalidURL": URL,
    "aiohttp.http_exceptions.ContentLengthError": TRUNCATED,
    "aiohttp.http_exceptions.TransferEncodingError": TRUNCATED,
    "aiohttp.http_exceptions.HttpProcessingError": PROTOCOL,
    "aiohttp_socks._errors.ProxyError": PROXY,
    "python_socks._errors.ProxyError": PROXY,
    f"{_TWISTED}DNSLookupError": DNS,
    f"{_TWISTED}TimeoutError": TIMEOUT,
    f"{_TWISTED}TCPTimedOutError": TIMEOUT,
    f"{_TWISTED}ConnectError": CONNECT,
    f"{_TWISTED}SSLError": TLS,
    f"{_TWISTED}ConnectionDone": RESET,
    f"{_TWISTED}ConnectionClosed": RESET,
    "twisted.internet.defer.TimeoutError": TIMEOUT,
    "twisted.web.http.PotentialDataLoss": TRUNCATED,
    "twisted.web.http._DataLoss": TRUNCATED,
    "twisted.web._newclient.ParseError": PROTOCOL,
    "twisted.web.error.SchemeNotSupported": URL,
    "skitter.engine.curl_fetcher.ProxyFailed": PROXY,
    "OpenSSL.SSL.Error": TLS,
    "service_identity.exceptions.VerificationError": TLS,
    f"{_SCRAPY}CannotResolveHostError": DNS,
    f"{_SCRAPY}DownloadTimeoutError": TIMEOUT,
    f"{_SCRAPY}DownloadCancelledError": SIZE,
    f"{_SCRAPY}ResponseDataLossError": TRUNCATED,
    f"{_SCRAPY}UnsupportedURLSchemeError": URL,
    "scrapy.core.downloader.handlers.http11.TunnelError": PROXY,
    "scrapy.utils._compression._DecompressionMaxSizeExceeded": SIZE,
    "httpx.TimeoutException": TIMEOUT,
    "httpx.ProxyError": PROXY,
    "httpx.ConnectError": CONNECT,
    "httpx.RemoteProtocolError": PROTOCOL,
    "httpx.NetworkError": RESET,
}
# They say that something failed and not what: whatever caused them is asked first.
_WRAPPERS: dict[str, str] = {
    f"{_AIOHTTP}ClientConnectorError": CONNECT,
    f"{_AIOHTTP}ClientConnectionError": RESET,
    f"{_SCRAPY}DownloadConnectionRefusedError": CONNECT,
    f"{_SCRAPY}DownloadFailedError": RESET,
    "twisted.web._newclient.ResponseNeverReceived": RESET,
    "twisted.web._newclient.ResponseFailed": TRUNCATED,
    "twisted.web._newclient.RequestTransmissionFailed": RESET,
}
_ERRNOS: dict[int, str] = {
    errno.ETIMEDOUT: TIMEOUT,
    errno.ECONNREFUSED: CONNECT,
    errno.EHOSTUNREACH: CONNECT,
    errno.EHOSTDOWN: CONNECT,
    errno.ENETUNREACH: CONNECT,
    errno.ENETDOWN: CONNECT,
    errno.EADDRNOTAVAIL: CONNECT,
    errno.ECONNRESET: RESET,
    errno.ECONNABORTED: RESET,
    errno.EPIPE: RESET,
    errno.ENOTCONN: RESET,
}


def classify(error: BaseException) -> str:
    """The reason: dns, connect, proxy, tls, timeout, reset, truncated, protocol, url, size, error.

    `redirects`, for too many of them, is said by whoever counts them.
    """
    wrapped = ""
    for cause in _causes(error):
        names = _names(cause)
        reason = next((_NAMES[name] for name in names if name in _NAMES), "")
        reason = reason or _ERRNOS.get(getattr(cause, "errno", None) or 0, "")
        if reason:
            return reason
        wrapped = wrapped or next((_WRAPPERS[name] for name in names if name in _WRAPPERS), "")
    return wrapped or (CONNECT if isinstance(error, OSError) else ERROR)


def _names(error: BaseException) -> list[str]:
    """Its qualified class names, the most specific first."""
    return [f"{kind.__module__}.{kind.__qualname__}" for kind in type(error).__mro__]


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The error, and whatever is told to have caused it: the outermost first, each once."""
    waiting: list[Any] = [error]
    met: set[int] = set()
    while waiting and len(met) < 20:
        current = waiting.pop(0)
        value = getattr(current, "value", None)  # Twisted keeps exceptions in Failures
        current = value if isinstance(value, BaseException) else current
        if not isinstance(current, BaseException) or id(current) in met:
            continue
        met.add(id(current))
        yield current
        reasons = getattr(current, "reasons", None)
        waiting += reasons if isinstance(reasons, list | tuple) else ()
        waiting += (getattr(current, "os_error", None), current.__cause__, current.__context__)
