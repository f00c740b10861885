"""A proxy before a server that cuts connections at a chosen moment.

It runs in a thread of its own, so it also serves clients in other processes while the test
waits. A cut is armed for the next request whose bytes hold `match`, which keeps handshakes
(HELLO, CLIENT SETINFO) out of it; a large request may come in pieces, `match` is in one of them.
"""

from __future__ import annotations

import asyncio
import contextlib
import enum
import shutil
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Self
from urllib.parse import unquote, urlsplit

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from types import TracebackType

CHUNK_BYTES = 1 << 16


class Cut(enum.Enum):
    BEFORE_REQUEST = "the server never sees the request"
    AFTER_REQUEST = "the server has answered, the client gets nothing"
    MID_REPLY = "the client gets half of the reply"
    SILENT_BEFORE = "the server never sees the request, the connection stays open"
    SILENT_AFTER = "the server has answered, the client waits for ever"


class Armed(NamedTuple):
    cut: Cut
    match: bytes


class CutProxy:
    """`url` is where clients connect: a unix socket, or a port when the server has one."""

    def __init__(self, upstream_url: str) -> None:
        self._upstream = urlsplit(upstream_url)
        self._folder = Path(tempfile.mkdtemp(prefix="skitter-cut-"))
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._links: set[Link] = set()
        self._armed: list[Armed] = []
        self.accepting = True
        self.cuts = 0
        self.url = ""

    def start(self) -> Self:
        self._thread.start()
        self.url = self._run(self._listen())
        return self

    def stop(self) -> None:
        self._run(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=10)
        self._loop.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def cut_next(self, cut: Cut, *, match: bytes = b"", times: int = 1) -> None:
        """Arm a cut for each of the next `times` requests that hold `match`, in any case."""
        self._armed += [Armed(cut, match.lower())] * times

    def cut_all(self) -> None:
        """Cut every open connection now."""
        self._loop.call_soon_threadsafe(self._abort_links)

    def refuse(self) -> None:
        """Cut everything and slam the door on who comes, until `accept`."""
        self.accepting = False
        self.cut_all()

    def accept(self) -> None:
        self.accepting = True

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def take(self, request: bytes) -> Cut | None:
        """The cut armed for this request, which is used up by it."""
        lowered = request.lower()
        for armed in self._armed:
            if armed.match in lowered:
                self._armed.remove(armed)
                self.cuts += 1
                return armed.cut
        return None

    def _run(self, work: Coroutine[None, None, str]) -> str:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(timeout=10)

    async def _listen(self) -> str:
        if self._upstream.scheme == "unix":
            path = self._folder / "s.sock"
            self._server = await asyncio.start_unix_server(self._serve, path)
            return f"unix://{path}"
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return f"redis://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def _close(self) -> str:
        self._server.close()
        self._abort_links()
        tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return ""

    def _abort_links(self) -> None:
        for link in list(self._links):
            link.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not self.accepting:
            writer.transport.abort()
            return
        try:
            upstream = await self._connect()
        except OSError:
            writer.transport.abort()
            return
        link = Link(self, client=(reader, writer), server=upstream)
        self._links.add(link)
        try:
            await link.run()
        finally:
            self._links.discard(link)

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if self._upstream.scheme == "unix":
            return await asyncio.open_unix_connection(unquote(self._upstream.path))
        return await asyncio.open_connection(self._upstream.hostname, self._upstream.port)


class Link:
    """One client's connection and its counterpart to the server."""

    def __init__(
        self,
        proxy: CutProxy,
        *,
        client: tuple[asyncio.StreamReader, asyncio.StreamWriter],
        server: tuple[asyncio.StreamReader, asyncio.StreamWriter],
    ) -> None:
        self._proxy = proxy
        self._client_reader, self._client_writer = client
        self._server_reader, self._server_writer = server
        self._cut: Cut | None = None

    async def run(self) -> None:
        ways = [asyncio.create_task(self._requests()), asyncio.create_task(self._replies())]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self.abort()
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)

    def abort(self) -> None:
        self._client_writer.transport.abort()
        self._server_writer.transport.abort()

    async def _requests(self) -> None:
        with contextlib.suppress(OSError):
            while chunk := await self._client_reader.read(CHUNK_BYTES):
                if self._cut is None:
                    self._cut = self._proxy.take(chunk)
                if self._cut is Cut.BEFORE_REQUEST:
                    return
                if self._cut is not Cut.SILENT_BEFORE:
                    self._server_writer.write(chunk)
                    await self._server_writer.drain()

    async def _replies(self) -> None:
        with contextlib.suppress(OSError):
            while chunk := await self._server_reader.read(CHUNK_BYTES):
                if self._cut is Cut.AFTER_REQUEST:
                    return
                if self._cut is Cut.MID_REPLY:
                    await self._pass_half(chunk)
                    return
                if self._cut is not Cut.SILENT_AFTER:
                    self._client_writer.write(chunk)
                    await self._client_writer.drain()

    async def _pass_half(self, chunk: bytes) -> None:
        """Closed in order, not aborted: an abort would throw away the half on its way."""
        self._client_writer.write(chunk[: max(1, len(chunk) // 2)])
        await self._client_writer.drain()
        self._client_writer.close()
        await self._client_writer.wait_closed()
