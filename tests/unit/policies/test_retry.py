from __future__ import annotations

import asyncio
import errno
import socket
import ssl
from typing import Any

import aiohttp
import pytest
from aiohttp import client_exceptions
from scrapy import exceptions as scrapy_exceptions
from scrapy.core.downloader.handlers.http11 import TunnelError
from twisted.internet import error
from twisted.python import failure
from twisted.web import _newclient

from skitter.frontier import RetryPolicy
from skitter.policies.retry import RetryRules, classify, retry_after_ms
from skitter.settings import RetrySettings

# Twisted's have no types.
twisted_error: Any = error
newclient: Any = _newclient
KEY: Any = aiohttp.client_reqrep.ConnectionKey("a.com", 80, False, True, None, None, None)


def caused(error: Exception, by: BaseException) -> Exception:
    error.__cause__ = by
    return error


def wrapped(*errors: Exception) -> list[Any]:
    kind: Any = failure.Failure
    return [kind(error) for error in errors]


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (socket.gaierror(-2, "Name or service not known"), "dns"),
        (TimeoutError(), "timeout"),
        (TimeoutError(errno.ETIMEDOUT, "x"), "timeout"),
        (ConnectionRefusedError(errno.ECONNREFUSED, "x"), "connect"),
        (OSError(errno.EHOSTUNREACH, "no route"), "connect"),
        (OSError("of no known kind"), "connect"),
        (ConnectionResetError(errno.ECONNRESET, "x"), "reset"),
        (BrokenPipeError(), "reset"),
        (ssl.SSLCertVerificationError("bad"), "tls"),
        (ssl.SSLEOFError(8, "EOF"), "reset"),
        (asyncio.IncompleteReadError(b"", 5), "truncated"),
        (ValueError("a bug"), "error"),
        (RuntimeError(), "error"),
        (StopIteration(3), "error"),
    ],
)
def test_python_errors(error: BaseException, reason: str) -> None:
    assert classify(error) == reason


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (client_exceptions.ClientConnectorDNSError(KEY, OSError(-2, "x")), "dns"),
        (client_exceptions.ClientConnectorError(KEY, socket.gaierror(-2, "x")), "dns"),
        (client_exceptions.ClientConnectorError(KEY, OSError(errno.ECONNREFUSED, "x")), "connect"),
        (client_exceptions.ClientConnectorError(KEY, OSError(None, "x")), "connect"),
        (client_exceptions.ClientProxyConnectionError(KEY, OSError(111, "x")), "proxy"),
        (client_exceptions.ClientConnectorSSLError(KEY, OSError(1, "x")), "tls"),
        (client_exceptions.SocketTimeoutError(), "timeout"),
        (client_exceptions.ServerDisconnectedError(), "reset"),
        (client_exceptions.ClientOSError(errno.ECONNRESET, "x"), "reset"),
        (client_exceptions.ClientPayloadError("short"), "truncated"),
        (client_exceptions.InvalidURL("http://"), "url"),
        (client_exceptions.ClientResponseError(Any, (), status=400), "protocol"),  # type: ignore[arg-type]
    ],
)
def test_aiohttp_errors(error: BaseException, reason: str) -> None:
    assert classify(error) == reason


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (twisted_error.DNSLookupError(), "dns"),
        (twisted_error.TimeoutError(), "timeout"),
        (twisted_error.TCPTimedOutError(), "timeout"),
        (twisted_error.ConnectionRefusedError(), "connect"),
        (twisted_error.NoRouteError(), "connect"),
        (twisted_error.ConnectionLost(), "reset"),
        (twisted_error.ConnectionDone(), "reset"),
        (newclient.ResponseNeverReceived(wrapped(twisted_error.ConnectionLost())), "reset"),
        (newclient.ResponseNeverReceived(wrapped(twisted_error.TimeoutError())), "timeout"),
        (newclient.ResponseNeverReceived([]), "reset"),
        (newclient.ResponseFailed([]), "truncated"),
        (scrapy_exceptions.CannotResolveHostError(), "dns"),
        (scrapy_exceptions.DownloadConnectionRefusedError(), "connect"),
        (scrapy_exceptions.DownloadTimeoutError(), "timeout"),
        (scrapy_exceptions.ResponseDataLossError(), "truncated"),
        (scrapy_exceptions.DownloadFailedError(), "reset"),
        (caused(scrapy_exceptions.DownloadFailedError(), ssl.SSLError()), "tls"),
        (scrapy_exceptions.UnsupportedURLSchemeError(), "url"),
        (TunnelError(), "proxy"),
    ],
)
def test_scrapy_and_twisted_errors(error: BaseException, reason: str) -> None:
    assert classify(error) == reason


def test_errors_that_cause_each_other_end() -> None:
    first, second = RuntimeError(), RuntimeError()
    first.__cause__, second.__cause__ = second, first
    assert classify(first) == "error"


def test_a_status_that_is_not_retried_is_given() -> None:
    rules = RetryRules()
    for status in (200, 301, 403, 404, 410, 501):
        assert rules.decide(0, status=status).action == "give"


@pytest.mark.parametrize("status", [500, 502, 503, 504, 522, 524, 408, 429])
def test_a_status_is_retried_until_its_last_attempt(status: int) -> None:
    rules = RetryRules()
    decisions = [rules.decide(attempts, status=status) for attempts in range(4)]
    assert [decision.action for decision in decisions] == ["retry", "retry", "retry", "bury"]
    assert {decision.reason for decision in decisions} == {f"http {status}"}
    assert RetryRules(give_last=True).decide(3, status=status).action == "give"


def test_waits_grow_and_hear_retry_after() -> None:
    rules = RetryRules(policy=RetryPolicy(jitter=0), max_retry_after_ms=60_000)
    assert [rules.decide(n, status=503).wait_ms for n in range(3)] == [2000, 4000, 8000]
    assert rules.decide(0, status=503, retry_after="30").wait_ms == 30_000
    assert rules.decide(0, status=503, retry_after=b"7200").wait_ms == 60_000
    assert rules.decide(0, status=503, retry_after="1").wait_ms == 2000


def test_each_reason_may_have_a_number_of_attempts() -> None:
    rules = RetryRules.of(RetrySettings(attempts=("callback=1", "dns=2", "429=6", "http=3")))
    assert rules.decide(0, error=ValueError(), reason="callback").action == "bury"
    assert [rules.decide(n, error=socket.gaierror()).action for n in (0, 1)] == ["retry", "bury"]
    assert rules.decide(4, status=429).action == "retry"
    assert [rules.decide(n, status=503).action for n in (1, 2)] == ["retry", "bury"]
    assert rules.decide(2, error=TimeoutError()).action == "retry"


def test_defaults_do_not_fetch_again_for_a_bug_in_a_callback() -> None:
    rules = RetryRules.of(RetrySettings())
    assert rules.decide(0, error=KeyError("price"), reason="callback").action == "bury"
    assert rules.decide(0, error=OSError(), reason="item").action == "retry"
    assert rules.decide(1, error=OSError(), reason="item").action == "bury"
    assert rules.decide(2, reason="sink").action == "retry"


def test_a_request_may_bound_its_own_attempts() -> None:
    rules = RetryRules()
    assert rules.decide(0, status=503, most=1).action == "bury"
    assert rules.decide(7, error=TimeoutError(), most=9).action == "retry"
    assert rules.decide(0, status=503, most=-1).action == "bury"


NOW_S = 1_700_000_000.0  # Tue, 14 Nov 2023 22:13:20 GMT


@pytest.mark.parametrize(
    ("value", "expected_ms"),
    [
        ("", 0),
        ("0", 0),
        ("120", 120_000),
        (" 5 ", 5000),
        ("1.5", 1000),
        (b"3", 3000),
        ("Tue, 14 Nov 2023 22:14:20 GMT", 60_000),
        ("Tuesday, 14-Nov-23 22:14:20 GMT", 60_000),
        ("Tue, 14 Nov 2023 22:00:00 GMT", 0),
        ("Tue, 14 Nov 2023 22:14:20 +0000", 60_000),
        ("Tue, 14 Nov 2999 22:14:20 GMT", 3_600_000),
        ("99999999", 3_600_000),
        ("9" * 5000, 0),
        ("-5", 0),
        ("soon", 0),
        ("Tue, 99 Nov 2023 99:99:99 GMT", 0),
        ("\xff\0", 0),
    ],
)
def test_retry_after(value: str | bytes, expected_ms: float) -> None:
    assert retry_after_ms(value, now_s=NOW_S) == expected_ms
