"""What every fetcher has to do, asked of each: one request, once, as it is written."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    ResponseDataLossError,
)

from skitter.engine.fetcher import Asked
from tests.integration.engine.fetchers import FETCHERS, make_fetcher
from tests.wait import wait_until_async

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

pytestmark = pytest.mark.integration

HEADERS = [("User-Agent", "test"), ("X-oDd", "1"), ("Accept-Encoding", "gzip"), ("X-Empty", "")]
OK = b"HTTP/1.1 200 OK\r\n"


class Reception:
    watches_body = False

    def __init__(self, *, keeps_torn: bool = False, most: int = 1 << 40) -> None:
        self.keeps_torn = keeps_torn
        self.headers: Sequence[tuple[bytes, bytes]] = ()
        self._most = most

    def head(self, _status: int, headers: Sequence[tuple[bytes, bytes]]) -> bool:
        self.headers = headers
        return True

    def part(self, _data: bytes, received: int) -> bool:
        return received < self._most

    def crowded(self) -> bool:
        return False

    async def room(self) -> None:
        """There is always some."""


class Server:
    """Says to each path what it is told to; keeps the heads that came."""

    def __init__(self) -> None:
        self.heads: list[bytes] = []
        self.open = 0
        self.origin = ""
        self.tasks: set[Any] = set()

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.open += 1
        self.tasks.add(asyncio.current_task())
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError):
                while await self._answer(await reader.readuntil(b"\r\n\r\n"), writer):
                    pass
        finally:
            writer.close()
            self.open -= 1

    async def _answer(self, head: bytes, writer: asyncio.StreamWriter) -> bool:
        self.heads.append(head)
        path = head.split(b" ")[1].decode()
        answers = {
            "/drop": b"",
            "/torn": OK + b"Content-Length: 100\r\n\r\nhalf",
            "/cut": OK + b"Content-Type: te",
            "/moved": b"HTTP/1.1 302 Found\r\nLocation: /page\r\nContent-Length: 0\r\n\r\n",
            "/hint": b"HTTP/1.1 103 Early\r\nLink: x\r\n\r\n" + OK + b"Content-Length: 2\r\n\r\nok",
        }
        if path == "/silent":
            await asyncio.Event().wait()
        if path == "/endless":
            writer.write(OK + b"\r\n")
            while True:
                writer.write(b"x" * 65536)
                await writer.drain()
        usual = OK + b"Set-Cookie: a\r\nX: y\r\nset-cookie: b\r\nContent-Length: 4\r\n\r\npage"
        writer.write(answers.get(path, usual))
        await writer.drain()
        return path not in {"/drop", "/torn", "/cut"}


@asynccontextmanager
async def serving() -> AsyncIterator[Server]:
    told = Server()
    server = await asyncio.start_server(told.talk, "127.0.0.1", 0)
    told.origin = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield told
    finally:
        server.close()
        for task in told.tasks:
            task.cancel()
        await asyncio.gather(*told.tasks, return_exceptions=True)


@pytest.fixture(params=FETCHERS)
async def fetcher(request: pytest.FixtureRequest) -> AsyncIterator[Any]:
    made = make_fetcher(request.param, resolve=["*.here=127.0.0.1"])
    yield made
    await made.close()


async def get(fetcher: Any, url: str, reception: Reception | None = None, **more: Any) -> Any:
    asked = Asked("GET", url, HEADERS, **{"timeout_s": 20.0} | more)
    return await fetcher.fetch(asked, reception or Reception())


async def test_the_request_is_sent_as_it_is_written(fetcher: Any) -> None:
    async with serving() as server:
        await get(fetcher, f"{server.origin}/a/../b?x=[y]&%7e=1#part")
    lines = server.heads[0].decode().split("\r\n")
    assert lines[0] == "GET /a/../b?x=[y]&%7e=1 HTTP/1.1"
    sent = [line for line in lines[1:-2] if not line.startswith("Host: ")]
    assert [line.rstrip() for line in sent] == [f"{n}: {v}".rstrip() for n, v in HEADERS]


@pytest.mark.parametrize(
    "path", ["/", "/a//b/", "/a?b=c&d", "/a?b?c", "/%C3%A9?%20=+", "/~a;b@c:d"]
)
async def test_the_short_way_and_the_long_way_write_the_same(fetcher: Any, path: str) -> None:
    async with serving() as server:
        named = server.origin.replace("127.0.0.1", "any.here")
        for origin in (server.origin, named):
            await get(fetcher, f"{origin}{path}")
            await get(fetcher, f"{origin}{path}#part")  # what has a fragment is not plain
    assert server.heads[0::2] == server.heads[1::2]
    assert server.heads[2].splitlines()[1].startswith(b"Host: any.here:")


async def test_headers_are_sent_as_they_are_and_no_others(fetcher: Any) -> None:
    async with serving() as server:
        asked = Asked("GET", f"{server.origin}/", [("X-Accents", "ü\xff")])
        await fetcher.fetch(asked, Reception())
    lines = server.heads[0].decode("latin-1").split("\r\n")[1:-2]
    assert [line for line in lines if not line.startswith("Host: ")] == ["X-Accents: ü\xff"]


@pytest.mark.parametrize("value", ["a\r\nX-Other: b", "a\nb", "a\rb", "a\0b"])
async def test_a_header_cannot_smuggle_another_one_in(fetcher: Any, value: str) -> None:
    async with serving() as server:
        with pytest.raises(ValueError, match="header"):
            await fetcher.fetch(Asked("GET", f"{server.origin}/", [("X", value)]), Reception())
    assert not server.heads


async def test_the_answer_is_given_as_it_came(fetcher: Any) -> None:
    reception = Reception()
    async with serving() as server:
        answer = await get(fetcher, f"{server.origin}/page", reception)
        assert (await get(fetcher, f"{server.origin}/hint")).body == b"ok"
        assert (await get(fetcher, f"{server.origin}/moved")).status == 302
        named = server.origin.replace("127.0.0.1", "any.here")
        assert (await get(fetcher, f"{named}/page")).body == b"page"
    assert (answer.status, answer.body, answer.address) == (200, b"page", "127.0.0.1")
    assert answer.protocol == "HTTP/1.1"
    assert [value for name, value in reception.headers if name.lower() == b"set-cookie"] == [
        b"a",
        b"b",
    ]


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "HEAD", "OPTIONS"])
async def test_methods_and_bodies(fetcher: Any, method: str) -> None:
    body = b"" if method in {"HEAD", "OPTIONS"} else b"data"
    async with serving() as server:
        asked = Asked(method, f"{server.origin}/page", [("A", "b")], body, 20.0)
        if method != "HEAD":
            assert (await fetcher.fetch(asked, Reception())).body == b"page"
        else:
            with suppress(DownloadFailedError, ResponseDataLossError):
                await fetcher.fetch(asked, Reception())
    head = server.heads[0].decode().lower()
    assert head.startswith(f"{method.lower()} /page ")
    assert ("content-length: 4" in head) == bool(body)
    assert "content-type" not in head
    assert "expect" not in head


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "PURGE"])
async def test_an_empty_body_is_told_of_where_one_is_expected(fetcher: Any, method: str) -> None:
    async with serving() as server:
        await fetcher.fetch(Asked(method, f"{server.origin}/page", []), Reception())
    told = b"content-length: 0" in server.heads[0].lower()
    assert told == (method in {"POST", "PUT"})


async def test_a_request_is_sent_once(fetcher: Any) -> None:
    async with serving() as server:
        await get(fetcher, f"{server.origin}/page")
        with pytest.raises(DownloadFailedError):
            await get(fetcher, f"{server.origin}/drop")
    assert sum(b"/drop" in head for head in server.heads) == 1


async def test_a_body_without_an_end_is_left(fetcher: Any) -> None:
    async with serving() as server:
        answer = await get(fetcher, f"{server.origin}/endless", Reception(most=100_000))
        assert 100_000 <= len(answer.body) < 10_000_000
        await wait_until_async(lambda: server.open == 0)


async def test_a_fetch_that_is_cancelled_ends_at_the_server(fetcher: Any) -> None:
    async with serving() as server:
        fetch = asyncio.ensure_future(get(fetcher, f"{server.origin}/endless"))
        await wait_until_async(lambda: bool(server.heads))
        fetch.cancel()
        await asyncio.wait([fetch])
        assert fetch.cancelled()
        await wait_until_async(lambda: server.open == 0)


async def test_failures_have_scrapys_names(fetcher: Any) -> None:
    async with serving() as server:
        with pytest.raises(ResponseDataLossError):
            await get(fetcher, f"{server.origin}/torn")
        with pytest.raises(DownloadTimeoutError):
            await get(fetcher, f"{server.origin}/silent", timeout_s=0.3)
        torn = await get(fetcher, f"{server.origin}/torn", Reception(keeps_torn=True))
        assert (torn.body, torn.flags) == (b"half", ["dataloss"])
        with pytest.raises(DownloadFailedError):
            await get(fetcher, f"{server.origin}/cut")
    with pytest.raises(DownloadConnectionRefusedError):
        await get(fetcher, "http://127.0.0.1:1/")
    with pytest.raises(CannotResolveHostError):
        await get(fetcher, "http://nowhere.invalid/")
