"""The clients, each behind the same two calls. Each is imported only in its own process."""

from __future__ import annotations

import asyncio
import ssl
from contextlib import suppress
from datetime import timedelta
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    Headers = Sequence[tuple[str, str]]
    Got = tuple[int, list[tuple[str, str]], bytes]

TIMEOUT_S = 20.0


class Client(Protocol):
    """Fetches once, follows nothing, and verifies no certificate."""

    async def get(self, url: str, headers: Headers, *, most: int = 1 << 40) -> Got:
        """Status, headers and at most about so many bytes of the body."""

    async def close(self) -> None: ...


class Skitter:
    """One of the engine's own fetchers."""

    def __init__(self, module: str, kind: str) -> None:
        self._asked = import_module("skitter.engine.fetcher").Asked
        tls = ssl.create_default_context()
        tls.check_hostname, tls.verify_mode = False, ssl.CERT_NONE
        self._fetcher = getattr(import_module(f"skitter.engine.{module}"), kind)(tls=lambda: tls)

    async def get(self, url: str, headers: Headers, *, most: int = 1 << 40) -> Got:
        reception = _Reception(most)
        answer = await self._fetcher.fetch(
            self._asked("GET", url, headers, timeout_s=TIMEOUT_S), reception
        )
        return answer.status, reception.headers, answer.body

    async def close(self) -> None:
        await self._fetcher.close()


class _Reception:
    watches_body = False
    keeps_torn = False

    def __init__(self, most: int) -> None:
        self.headers: list[tuple[str, str]] = []
        self._most = most

    def head(self, _status: int, headers: Sequence[tuple[bytes, bytes]]) -> bool:
        self.headers = [(name.decode(), value.decode()) for name, value in headers]
        return True

    def part(self, _data: bytes, received: int) -> bool:
        return received < self._most


class Pyreqwest:
    """Rust's reqwest."""

    def __init__(self) -> None:
        builder = import_module("pyreqwest.client").ClientBuilder()
        builder = builder.danger_accept_invalid_certs(True).max_redirects(0)
        builder = builder.follow_redirects(False).gzip(False).timeout(timedelta(seconds=TIMEOUT_S))
        self._client = builder.build()

    async def get(self, url: str, headers: Headers, *, most: int = 1 << 40) -> Got:
        request = self._client.get(url).headers(list(headers))
        if most < 1 << 40:
            async with request.build_streamed() as response:
                body = bytes(await response.body_reader.read(most) or b"")
                return response.status, list(response.headers.items()), body
        response = await request.build().send()
        return response.status, list(response.headers.items()), bytes(await response.bytes())

    async def close(self) -> None:
        await self._client.close()


class Wreq:
    """Rust, with the TLS and HTTP/2 of browsers where that is asked for."""

    def __init__(self) -> None:
        wreq = self._wreq = import_module("wreq")
        self._client = wreq.Client(
            tls_verify=False, redirect=wreq.redirect.Policy.none(), gzip=False, brotli=False,
            deflate=False, zstd=False, timeout=timedelta(seconds=TIMEOUT_S),
        )  # fmt: skip

    async def get(self, url: str, headers: Headers, *, most: int = 1 << 40) -> Got:
        given = self._wreq.HeaderMap()
        for name, value in headers:
            given.append(name, value)
        order = [name for name, _ in headers]
        response = await self._client.get(url, headers=given, orig_headers=order)
        async with response:
            found = [(_text(name), _text(value)) for name, value in response.headers]
            if most == 1 << 40:
                return response.status.as_int(), found, bytes(await response.bytes())
            body = b""
            async with response.stream() as parts:
                async for part in parts:
                    body += bytes(part)
                    if len(body) >= most:
                        break
            return response.status.as_int(), found, body

    async def close(self) -> None:
        with suppress(Exception):
            self._client.close()


class CurlCffi:
    """libcurl with the TLS of browsers."""

    def __init__(self) -> None:
        requests = import_module("curl_cffi.requests")
        self._session = requests.AsyncSession(
            verify=False, allow_redirects=False, timeout=TIMEOUT_S, max_clients=64,
            default_headers=False, discard_cookies=True,
        )  # fmt: skip

    async def get(self, url: str, headers: Headers, *, most: int = 1 << 40) -> Got:
        if most == 1 << 40:
            response = await self._session.get(url, headers=list(headers), accept_encoding=None)
            return response.status_code, list(response.headers.multi_items()), response.content
        response = await self._session.get(
            url, headers=list(headers), accept_encoding=None, stream=True
        )
        body = b""
        async for part in response.aiter_content():
            body += part
            if len(body) >= most:
                break
        await response.aclose()
        return response.status_code, list(response.headers.multi_items()), body

    async def close(self) -> None:
        await self._session.close()


def _text(value: Any) -> str:
    return value if isinstance(value, str) else bytes(value).decode("latin-1")


async def open_client(name: str) -> Client:
    """A client by its name, made inside the loop; raises ImportError."""
    await asyncio.sleep(0)
    if name == "aiohttp":
        return Skitter("aiohttp_fetcher", "AiohttpFetcher")
    if name == "pycurl":
        return Skitter("curl_fetcher", "CurlFetcher")
    kinds: dict[str, type[Client]] = {"pyreqwest": Pyreqwest, "wreq": Wreq, "curl_cffi": CurlCffi}
    return kinds[name]()
