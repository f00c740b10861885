"""A server that does everything wrong, each host in a way of its own: the first label of its name.

robots.txt is in order nearly everywhere, so that it is the page that fails. Run as a process of its
own; it tells its ports as one line of JSON and ends with its stdin.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import struct
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from tests.integration.engine import bad_answers
from tests.integration.engine.certificates import expired, self_signed, tls_of

if TYPE_CHECKING:
    from asyncio import StreamReader, StreamWriter
    from types import TracebackType

MISSING = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
LONG_ROBOTS = b"User-agent: *\nDisallow: /secret\n" + b"# and so on\n" * (1 << 18)


class BadServer:
    """`with BadServer() as bad:` rules lead `*.bad`, and `*.tls` by kind, to its ports."""

    def __init__(self) -> None:
        self._child: subprocess.Popen[str] | None = None
        self.rules: list[str] = []

    def __enter__(self) -> Self:
        words = [sys.executable, "-m", __name__]
        self._child = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        stdout: Any = self._child.stdout
        ports = json.loads(stdout.readline())
        self.rules = [f"{pattern}=127.0.0.1:{port}" for pattern, port in ports.items()]
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._child
        self._child.kill()
        self._child.communicate()


async def _serve(reader: StreamReader, writer: StreamWriter) -> None:
    """One connection, as many requests as it brings."""
    with contextlib.suppress(ConnectionError, TimeoutError, asyncio.IncompleteReadError):
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            path = head.split(b" ", 2)[1].decode("latin-1")
            if path == "/robots.txt":
                writer.write(_robots(_label(head)))
            elif not await bad_answers.of(_label(head))(writer, path, head):
                break
            await writer.drain()
    writer.close()


def _robots(label: str) -> bytes:
    if label != "long-robots":
        return MISSING
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(LONG_ROBOTS) + LONG_ROBOTS


def _label(head: bytes) -> str:
    """The first label of the host's name."""
    lines = head.decode("latin-1").lower().split("\r\n")
    host = next(line.removeprefix("host:").strip() for line in lines if line.startswith("host:"))
    return host.partition(".")[0]


async def _speak_plainly(_reader: StreamReader, writer: StreamWriter) -> None:
    """Plain text where TLS is expected."""
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    await writer.drain()
    writer.close()


async def _run() -> None:
    bad_answers.prepare()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        ports = {
            "*.bad": await _listen(_serve),
            "plain.tls": await _listen(_speak_plainly),
            "signed.tls": await _listen(_serve, ssl=tls_of(self_signed(path, "signed.tls"))),
            "expired.tls": await _listen(_serve, ssl=tls_of(expired(path, "expired.tls"))),
            "closed.bad2": _closed_port(),
        }
    print(json.dumps(ports), flush=True)
    await asyncio.to_thread(sys.stdin.read)


async def _listen(serve: Any, **options: Any) -> int:
    server = await asyncio.start_server(serve, "127.0.0.1", 0, **options)
    _KEPT.append(server)
    port: int = server.sockets[0].getsockname()[1]
    return port


def _closed_port() -> int:
    """One that nobody listens on, and nobody else gets."""
    taken = socket.socket()
    taken.bind(("127.0.0.1", 0))
    _KEPT.append(taken)
    return int(taken.getsockname()[1])


def abort(writer: StreamWriter) -> None:
    """Reset the connection, with nothing said."""
    sock = writer.get_extra_info("socket")
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


_KEPT: list[Any] = []

if __name__ == "__main__":
    asyncio.run(_run())
