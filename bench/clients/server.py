"""python -m bench.clients.server FOLDER [--tls]: pages, and answers that show what a client does.

Its first line on stdout is its port. `/told` says how many connections it has had, how many of them
resumed a TLS session, and how many endless answers are still being sent.
"""

from __future__ import annotations

import asyncio
import json
import ssl
import sys
from pathlib import Path
from typing import Any, cast

import uvloop

from bench.clients.certificate import write_certificate

PAGE = b"<!doctype html><title>Page</title>" + b"<p>All that is here is read.</p>" * 460
PART = b"1000\r\n" + b"x" * 4096 + b"\r\n"


class Told:
    """What the server has seen."""

    connections = 0
    resumed = 0
    endless = 0
    dropped = 0


class Server(asyncio.Protocol):
    """One connection."""

    def __init__(self, told: Told) -> None:
        self._told = told
        self._transport: asyncio.Transport
        self._head = b""
        self._endless: asyncio.Task[None] | None = None
        self._writable = asyncio.Event()
        self._writable.set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._told.connections += 1
        secured: Any = transport.get_extra_info("ssl_object")
        self._told.resumed += bool(secured and secured.session_reused)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        if self._endless:
            self._endless.cancel()

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    def data_received(self, data: bytes) -> None:
        self._head += data
        while b"\r\n\r\n" in self._head:
            head, _, self._head = self._head.partition(b"\r\n\r\n")
            self._answer(head + b"\r\n\r\n")

    def _answer(self, head: bytes) -> None:
        path = head.split(b" ", 2)[1].decode()
        if path == "/endless":
            self._transport.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            self._endless = asyncio.get_running_loop().create_task(self._send_on())
        elif path == "/silent":
            self._endless = asyncio.get_running_loop().create_task(self._wait_on())
        elif path == "/drop":
            self._told.dropped += 1
            self._transport.close()
        elif path == "/moved":
            self._reply(b"", "Location: /page", status="302 Found")
        elif path == "/cookies":
            self._reply(b"", "Set-Cookie: a=1; Path=/\r\nX-Case: kept\r\nset-cookie: b=2")
        elif path.startswith("/echo"):
            self._reply(head, "Content-Type: text/plain")
        elif path == "/told":
            self._reply(json.dumps(_counted(self._told)).encode(), "X: y")
        else:
            self._reply(PAGE, "Content-Type: text/html; charset=utf-8")

    def _reply(self, body: bytes, headers: str, status: str = "200 OK") -> None:
        head = f"HTTP/1.1 {status}\r\n{headers}\r\nContent-Length: {len(body)}\r\n\r\n"
        self._transport.write(head.encode() + body)

    async def _send_on(self) -> None:
        self._told.endless += 1
        try:
            while True:
                await self._writable.wait()
                self._transport.write(PART)
                await asyncio.sleep(0)
        finally:
            self._told.endless -= 1

    async def _wait_on(self) -> None:
        self._told.endless += 1
        try:
            await asyncio.Event().wait()
        finally:
            self._told.endless -= 1


def _counted(told: Told) -> dict[str, int]:
    names = ("connections", "resumed", "endless", "dropped")
    return {name: getattr(told, name) for name in names}


async def serve(folder: Path, *, tls: bool) -> None:
    secured = None
    if tls:
        secured = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        secured.load_cert_chain(*write_certificate(folder))
    told = Told()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Server(told), "127.0.0.1", 0, ssl=secured)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(serve(Path(sys.argv[1]), tls="--tls" in sys.argv))
