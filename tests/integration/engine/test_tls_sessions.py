"""Connections to a host that was met before take up a TLS session; those through proxies do not."""

from __future__ import annotations

import asyncio
import ssl
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

import pytest

from skitter.engine import tls_sessions
from skitter.engine.aiohttp_fetcher import AiohttpFetcher
from tests.integration.engine.certificates import self_signed, tls_of
from tests.integration.engine.fetchers import FETCHERS, make_fetcher
from tests.integration.engine.test_fetchers import get
from tests.servers.tinyproxy import TinyProxy

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

pytestmark = pytest.mark.integration

VERSIONS = (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3)


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Say whether the connection took up a session, and close it."""
    with suppress(ConnectionError, asyncio.IncompleteReadError):
        await reader.readuntil(b"\r\n\r\n")
        body = b"old" if writer.get_extra_info("ssl_object").session_reused else b"new"
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nConnection: close\r\n\r\n" + body)
        await writer.drain()
    writer.close()


@asynccontextmanager
async def serving(tls: ssl.SSLContext) -> AsyncIterator[str]:
    server = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=tls)
    async with server:
        yield f":{server.sockets[0].getsockname()[1]}/"


def trusting(path: Path) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=path)


def careless() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


@asynccontextmanager
async def fetching(name: str, tls: Any = careless) -> AsyncIterator[Any]:
    fetcher = make_fetcher(name, resolve=["*.tls=127.0.0.1"], tls=tls)
    try:
        yield fetcher
    finally:
        await fetcher.close()


async def said(fetcher: Any, url: str, times: int = 3, **more: Any) -> list[str]:
    return [(await get(fetcher, url, **more)).body.decode() for _ in range(times)]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", FETCHERS)
async def test_a_session_is_taken_up(tmp_path: Path, name: str, version: ssl.TLSVersion) -> None:
    tls = tls_of(self_signed(tmp_path, "a.tls"))
    tls.maximum_version = version
    async with serving(tls) as place, fetching(name) as fetcher:
        assert await said(fetcher, f"https://a.tls{place}") == ["new", "old", "old"]
        assert await said(fetcher, f"https://b.tls{place}", 1) == ["new"]


async def test_what_is_not_a_plain_get_takes_it_up_too(tmp_path: Path) -> None:
    tls = tls_of(self_signed(tmp_path, "a.tls"))
    async with serving(tls) as place, fetching("aiohttp") as fetcher:
        url = f"https://a.tls{place}"
        assert await said(fetcher, url, 1) == ["new"]
        assert await said(fetcher, f"{url}#part", 1) == ["old"]


async def test_certificates_are_checked_and_known_as_ever(tmp_path: Path) -> None:
    path = self_signed(tmp_path, "a.tls")
    async with serving(tls_of(path)) as place, fetching("aiohttp", lambda: trusting(path)) as one:
        answers = [await get(one, f"https://a.tls{place}") for _ in range(2)]
        assert [found.body for found in answers] == [b"new", b"old"]
        assert answers[0].certificate == answers[1].certificate != None  # noqa: E711
        with pytest.raises(Exception, match="Hostname mismatch"):
            await get(one, f"https://b.tls{place}")


async def test_a_server_without_sessions_and_one_that_has_forgotten_them(tmp_path: Path) -> None:
    path = self_signed(tmp_path, "a.tls")
    without = tls_of(path)
    without.options |= ssl.OP_NO_TICKET
    without.num_tickets = 0
    async with fetching("aiohttp") as fetcher:
        async with serving(without) as place:
            assert await said(fetcher, f"https://a.tls{place}") == ["new"] * 3
        for _ in range(2):  # each has keys of its own
            async with serving(tls_of(path)) as place:
                assert await said(fetcher, f"https://a.tls{place}", 2) == ["new", "old"]


@pytest.mark.parametrize("name", FETCHERS)
async def test_connections_through_a_proxy_take_up_none(tmp_path: Path, name: str) -> None:
    tls = tls_of(self_signed(tmp_path, "a.tls"))
    with TinyProxy("127.0.0.2") as proxy:
        async with serving(tls) as place, fetching(name) as fetcher:
            url = f"https://127.0.0.1{place}"
            assert await said(fetcher, url, 2) == ["new", "old"]
            assert await said(fetcher, url, 3, proxy=proxy.url) == ["new"] * 3


async def test_sessions_are_kept_of_so_many_hosts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tls_sessions, "MOST_HOSTS", 2)
    tls = tls_of(self_signed(tmp_path, "a.tls"))
    async with serving(tls) as place, fetching("aiohttp") as fetcher:
        assert isinstance(fetcher, AiohttpFetcher)
        for name in ("a", "b", "c"):
            assert await said(fetcher, f"https://{name}.tls{place}", 2) == ["new", "old"]
        assert await said(fetcher, f"https://b.tls{place}", 1) == ["old"]
        assert await said(fetcher, f"https://a.tls{place}", 1) == ["new"]
