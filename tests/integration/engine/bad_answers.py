"""The wrong answers of the bad server, by name: `endless-body.bad` is `endless_body` here.

Each writes its answer, and says whether the connection may bring another request.
"""

from __future__ import annotations

import asyncio
import gzip
import zlib
from functools import cache
from typing import TYPE_CHECKING, Any

import brotli  # type: ignore[import-untyped]  # it has none
from backports import zstd

if TYPE_CHECKING:
    from asyncio import StreamWriter
    from collections.abc import Awaitable, Callable

    Answer = Callable[[StreamWriter, str, bytes], Awaitable[bool]]

OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
KILOBYTE = b"x" * 1000
UNPACKED = 128 << 20
TICK_S = 0.2
BREATH_S = 0.002


def of(label: str) -> Answer:
    """The answer of a host."""
    found: Answer = globals()[label.replace("-", "_")]
    return found


async def fine(writer: StreamWriter, path: str, _head: bytes) -> bool:
    writer.write(_page(f"<title>{path}</title>".encode()))
    return True


async def endless_headers(writer: StreamWriter, _path: str, _head: bytes) -> bool:
    writer.write(OK)
    for number in range(10**9):
        writer.write(b"X-%d: %s\r\n" % (number, KILOBYTE))
        await writer.drain()
        await asyncio.sleep(BREATH_S)
    return False


async def endless_header(writer: StreamWriter, _path: str, _head: bytes) -> bool:
    writer.write(OK + b"X-Long: ")
    return await _for_ever(writer, KILOBYTE)


async def endless_status(writer: StreamWriter, _path: str, _head: bytes) -> bool:
    writer.write(b"HTTP/1.1 200 ")
    return await _for_ever(writer, KILOBYTE)


async def endless_hints(writer: StreamWriter, _path: str, _head: bytes) -> bool:
    """Informational heads for ever, and never the real one."""
    return await _for_ever(writer, b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" * 20)


async def endless_body(writer: StreamWriter, _path: str, _head: bytes) -> bool:
    writer.write(OK + b"\r\n")
    return await _for_ever(writer, KILOBYTE * 64)


async def endless_chunks(writer: StreamWriter, _path: str, _head: bytes) -> bool:
    writer.write(OK + b"Transfer-Encoding: chunked\r\n\r\n")
    return await _for_ever(writer, b"3e8\r\n" + KILOBYTE + b"\r\n")


async def endless_chunk_size(writer: StreamWriter, _path: str, _head: bytes) -> bool:
    writer.write(OK + b"Transfer-Encoding: chunked\r\n\r\n3e8;extension=")
    return await _for_ever(writer, KILOBYTE)


async def endless_trailers(writer: StreamWriter, _path: str, _head: bytes) -> bool:
    writer.write(OK + b"Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n")
    return await _for_ever(writer, b"X-Trailer: " + KILOBYTE + b"\r\n")


async def too_long(writer: StreamWriter, _path: str, _head: bytes) -> bool:
    """It says so in its head."""
    writer.write(OK + b"Content-Length: 99999999999\r\n\r\n")
    return await _for_ever(writer, KILOBYTE)


async def gzip_bomb(writer: StreamWriter, _path: str, _head: bytes) -> bool:
    return _packed(writer, b"gzip", _bomb("gzip"))


async def gzip_twice(writer: StreamWriter, _path: str, _head: bytes) -> bool:
    return _packed(writer, b"gzip, gzip", gzip.compress(_bomb("gzip")))


async def deflate_bomb(writer: StreamWriter, _path: str, _head: bytes) -> bool:
    return _packed(writer, b"deflate", _bomb("deflate"))


async def br_bomb(writer: StreamWriter, _path: str, _head: bytes) -> bool:
    return _packed(writer, b"br", _bomb("br"))


async def zstd_bomb(writer: StreamWriter, _path: str, _head: bytes) -> bool:
    return _packed(writer, b"zstd", _bomb("zstd"))


async def slow_body(writer: StreamWriter, _path: str, _head: bytes) -> bool:
    writer.write(OK + b"Content-Length: 1000\r\n\r\n")
    return await _for_ever(writer, b"x", every_s=TICK_S)


async def slow_head(writer: StreamWriter, _path: str, _head: bytes) -> bool:
    for byte in OK * 1000:
        writer.write(bytes([byte]))
        await writer.drain()
        await asyncio.sleep(TICK_S)
    return False


async def silent(_writer: StreamWriter, _path: str, _head: bytes) -> bool:
    await asyncio.sleep(3600)
    return False


async def hangs_up(_writer: StreamWriter, _path: str, _head: bytes) -> bool:
    return False


async def resets(writer: StreamWriter, _path: str, _head: bytes) -> bool:
    from tests.integration.engine.bad_server import abort  # noqa: PLC0415 - it imports this

    abort(writer)
    return False


async def cut_short(writer: StreamWriter, _path: str, _head: bytes) -> bool:
    writer.write(OK + b"Content-Length: 5000\r\n\r\n" + KILOBYTE)
    return False


async def cut_chunk(writer: StreamWriter, _path: str, _head: bytes) -> bool:
    writer.write(OK + b"Transfer-Encoding: chunked\r\n\r\n3e8\r\nxxx")
    return False


async def no_last_chunk(writer: StreamWriter, _path: str, _head: bytes) -> bool:
    writer.write(OK + b"Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n")
    return False


async def bad_chunk(writer: StreamWriter, _path: str, _head: bytes) -> bool:
    writer.write(OK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\nok\r\n0\r\n\r\n")
    return True


async def late_bad_chunk(writer: StreamWriter, _path: str, _head: bytes) -> bool:
    """The head comes alone."""
    writer.write(OK + b"Transfer-Encoding: chunked\r\n\r\n")
    await asyncio.sleep(TICK_S)
    writer.write(b"zz\r\nok\r\n0\r\n\r\n")
    return True


async def negative_length(writer: StreamWriter, _path: str, _head: bytes) -> bool:
    writer.write(OK + b"Content-Length: -5\r\n\r\nhello")
    return False


async def two_lengths(writer: StreamWriter, _path: str, _head: bytes) -> bool:
    writer.write(OK + b"Content-Length: 2\r\nContent-Length: 5\r\n\r\nhello")
    return False


async def more_than_said(writer: StreamWriter, path: str, _head: bytes) -> bool:
    """What follows looks like the answer to a question that was not asked."""
    writer.write(_page(f"<title>{path}</title>".encode()) + _page(b"<title>smuggled</title>"))
    return True


async def garbage(writer: StreamWriter, _path: str, _head: bytes) -> bool:
    writer.write(bytes(range(256)) * 4)
    return False


async def no_status(writer: StreamWriter, _path: str, _head: bytes) -> bool:
    writer.write(b"HTTP/1.1 OK\r\n\r\n")
    return False


async def huge_status(writer: StreamWriter, _path: str, _head: bytes) -> bool:
    writer.write(b"HTTP/1.1 99999 Huge\r\nContent-Length: 0\r\n\r\n")
    return False


async def null_header(writer: StreamWriter, _path: str, _head: bytes) -> bool:
    writer.write(OK + b"X-Null: a\0b\r\nContent-Length: 2\r\n\r\nok")
    return False


async def spaced_header(writer: StreamWriter, _path: str, _head: bytes) -> bool:
    writer.write(OK + b"X Spaced : a\r\nContent-Length: 2\r\n\r\nok")
    return False


async def injects(writer: StreamWriter, path: str, head: bytes) -> bool:
    """A redirect whose target would break out of the request line, if it were sent as it is."""
    if path == "/":
        target = b"/next%0d%0aX-Injected:%20yes\rX-Injected: yes\x0bX-Injected: yes"
        writer.write(b"HTTP/1.1 302 Found\r\nLocation: " + target)
        writer.write(b"\r\nContent-Length: 0\r\n\r\n")
        return True
    injected = any(line.lower().startswith(b"x-injected") for line in head.split(b"\r\n"))
    writer.write(_page(b"<title>injected</title>" if injected else b"<title>unharmed</title>"))
    return True


async def loops(writer: StreamWriter, path: str, _head: bytes) -> bool:
    return _redirect(writer, "/there" if path == "/" else "/")


async def goes_on(writer: StreamWriter, path: str, _head: bytes) -> bool:
    return _redirect(writer, f"/{len(path)}{path}")


def _redirect(writer: StreamWriter, target: str) -> bool:
    head = f"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: {target}\r\n\r\n"
    writer.write(head.encode())
    return True


def _page(body: bytes) -> bytes:
    return OK + b"Content-Length: %d\r\n\r\n" % len(body) + body


def _packed(writer: StreamWriter, encoding: bytes, body: bytes) -> bool:
    head = b"Content-Encoding: %s\r\nContent-Length: %d\r\n\r\n" % (encoding, len(body))
    writer.write(OK + head + body)
    return True


async def _for_ever(writer: StreamWriter, data: bytes, *, every_s: float = BREATH_S) -> bool:
    while True:
        writer.write(data)
        await writer.drain()
        await asyncio.sleep(every_s)


def prepare() -> None:
    """Pack all bombs, so that nobody waits for it later."""
    for kind in ("gzip", "deflate", "br", "zstd"):
        _bomb(kind)


@cache
def _bomb(kind: str) -> bytes:
    """So many zeros, packed."""
    packers: dict[str, Any] = {
        "gzip": lambda data: gzip.compress(data, 1),
        "deflate": lambda data: zlib.compress(data, 1),
        "br": lambda data: brotli.compress(data, quality=1),
        "zstd": lambda data: zstd.compress(data, 1),
    }
    packed: bytes = packers[kind](bytes(UNPACKED))
    return packed


signed = expired = long_robots = fine
