"""What a fetcher promises beyond the answer: when it asks for leave, and when its time runs."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.exceptions import DownloadTimeoutError

from skitter.engine.fetcher import Asked
from skitter.engine.verdicts import NotSent
from tests.integration.engine.fetchers import FETCHERS, make_fetcher

if TYPE_CHECKING:
    from asyncio import StreamReader, StreamWriter
    from collections.abc import AsyncIterator, Sequence

pytestmark = pytest.mark.integration

BODY = b"x" * 300_000
TIMEOUT_S = 0.5


class Site:
    """Notes who came and what was said, and answers with a body."""

    def __init__(self) -> None:
        self.connected = asyncio.Event()
        self.heard = b""
        self.answers = True
        self.url = ""
        self.serving: set[asyncio.Task[None] | None] = set()

    async def serve(self, reader: StreamReader, writer: StreamWriter) -> None:
        self.serving.add(asyncio.current_task())
        self.connected.set()
        while line := await reader.readline():
            self.heard += line
            if line == b"\r\n" and self.answers:
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(BODY) + BODY)
                await writer.drain()
        writer.close()
        await writer.wait_closed()


class Taking:
    """Takes everything, after a wait in mid-body."""

    keeps_torn = watches_body = False

    def __init__(self, wait_s: float = 0.0) -> None:
        self.wait_s = wait_s

    def head(self, status: int, _headers: Sequence[tuple[bytes, bytes]]) -> bool:
        return status == 200

    def part(self, _data: bytes, _received: int) -> bool:
        return True

    def crowded(self) -> bool:
        return self.wait_s > 0

    async def room(self) -> None:
        wait_s, self.wait_s = self.wait_s, 0.0
        await asyncio.sleep(wait_s)


@asynccontextmanager
async def opened(name: str) -> AsyncIterator[tuple[Site, Any]]:
    site, fetcher = Site(), make_fetcher(name)
    server = await asyncio.start_server(site.serve, "127.0.0.1", 0)
    site.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
    try:
        yield site, fetcher
    finally:
        await fetcher.close()
        server.close()
        await asyncio.wait_for(asyncio.gather(*filter(None, site.serving)), 30)


@pytest.mark.parametrize("name", FETCHERS)
async def test_leave_is_asked_of_a_connection_before_the_first_byte(
    name: str,
) -> None:
    async with opened(name) as (site, fetcher):
        asked_at: list[bytes] = []

        def may_send() -> bool:
            asked_at.append(site.heard)
            return False

        with pytest.raises(NotSent):
            await fetcher.fetch(Asked("GET", site.url, [], may_send=may_send), Taking())
        await asyncio.wait_for(site.connected.wait(), 30)
        assert asked_at == [b""]
    assert site.heard == b""


@pytest.mark.parametrize("name", FETCHERS)
async def test_a_kept_connection_needs_leave_too(name: str) -> None:
    async with opened(name) as (site, fetcher):
        await fetcher.fetch(Asked("GET", site.url, []), Taking())
        said = site.heard
        with pytest.raises(NotSent):
            await fetcher.fetch(Asked("GET", site.url, [], may_send=lambda: False), Taking())
    assert site.heard == said


@pytest.mark.parametrize("name", FETCHERS)
async def test_time_stands_still_while_a_body_waits_for_room(name: str) -> None:
    async with opened(name) as (site, fetcher):
        asked = Asked("GET", site.url, [], timeout_s=TIMEOUT_S)
        answer = await fetcher.fetch(asked, Taking(wait_s=2 * TIMEOUT_S))
    assert answer.body == BODY


@pytest.mark.parametrize("name", FETCHERS)
async def test_time_runs_otherwise(name: str) -> None:
    async with opened(name) as (site, fetcher):
        site.answers = False
        with pytest.raises(DownloadTimeoutError):
            await fetcher.fetch(Asked("GET", site.url, [], timeout_s=TIMEOUT_S), Taking())
