"""The lab's web on a socket: one protocol object per connection, one request at a time on each.

Every host is served on one port, told apart by the Host header or by the absolute URL that a
proxy is asked for. Written on the bare protocol because the lab must outrun what it tests.
A client that hangs up is noticed at once, also while its answer is still being thought about.
The write buffer's limit is zero, so a head is in the kernel's hands when the call returns, and
`resume_writing` tells when the last byte of a body is.
"""

from __future__ import annotations

import asyncio
import os
import socket
import struct
import time
from typing import TYPE_CHECKING, cast

from skitter.lab.answer import Answer, text
from skitter.lab.wire import HEAD_LIMIT_BYTES, BadHead, Request, parse_head

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skitter.lab.desk import Desk
    from skitter.lab.referee import Referee, Visit
    from skitter.lab.site import Site

_LINGER_ZERO = struct.pack("ii", 1, 0)


class Connection(asyncio.Protocol):
    """One client's connection."""

    def __init__(
        self, *, site: Site, referee: Referee, desk: Desk, everyone: set[Connection]
    ) -> None:
        self._everyone = everyone
        self._site = site
        self._referee = referee
        self._desk = desk
        self._loop = asyncio.get_running_loop()
        self._transport = cast("asyncio.Transport", None)
        self._client = ""
        self._buffer = b""
        self._received_ns = 0
        self._request: Request | None = None
        self._visit: Visit | None = None
        self._answer = Answer()
        self._timer: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[None] | None = None
        self._writing_paused = False
        self._finishing = False
        self._room: asyncio.Future[None] | None = None
        self._lost: asyncio.Future[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._transport.set_write_buffer_limits(high=0)
        self._everyone.add(self)
        peer = transport.get_extra_info("peername")
        self._client = peer[0] if isinstance(peer, tuple) else ""

    def data_received(self, data: bytes) -> None:
        self._received_ns = time.monotonic_ns()
        self._buffer += data
        self._advance()

    def connection_lost(self, exc: Exception | None) -> None:
        del exc
        self._everyone.discard(self)
        if self._timer is not None:
            self._timer.cancel()
        if self._task is not None:
            self._task.cancel()
        if self._visit is not None:
            self._referee.disconnect(self._visit)
            self._visit = None
        if self._lost is not None and not self._lost.done():
            self._lost.set_result(None)

    def pause_writing(self) -> None:
        self._writing_paused = True

    def resume_writing(self) -> None:
        self._writing_paused = False
        if self._room is not None and not self._room.done():
            self._room.set_result(None)
        if self._finishing:
            self._finish()

    def close(self) -> asyncio.Future[None]:
        """End the connection because the server stops; the future is done when it is lost."""
        self._lost = self._loop.create_future()
        self._transport.abort()
        return self._lost

    def _advance(self) -> None:
        """Serve requests while whole ones are in the buffer and none is being answered."""
        try:
            while self._request is None and not self._transport.is_closing():
                request = self._take()
                if request is None:
                    return
                self._serve(request)
        except BadHead as error:
            answer = text(error.status, str(error))
            self._transport.write(answer.head(keep_alive=False) + answer.body)
            self._transport.close()

    def _take(self) -> Request | None:
        """The next request out of the buffer, once its head and body are there."""
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            if len(self._buffer) > HEAD_LIMIT_BYTES:
                raise BadHead(431, f"a head may have {HEAD_LIMIT_BYTES} bytes")
            return None
        request = parse_head(self._buffer[:end])
        rest = self._buffer[end + 4 :]
        length = request.body_bytes if request.method == "POST" else 0
        if len(rest) < length:
            return None
        request.body, self._buffer = rest[:length], rest[length:]
        return request

    def _serve(self, request: Request) -> None:
        self._request = request
        if self._desk.takes(request):
            self._task = self._loop.create_task(self._serve_desk(request))
            return
        self._visit = self._referee.arrive(
            host=request.host,
            target=request.target,
            method=request.method,
            client=self._client,
            there=self._client_is_there,
            at_ns=self._received_ns,
        )
        self._answer = answer = self._site.answer(request)
        if answer.latency_ms:
            self._timer = self._loop.call_later(answer.latency_ms / 1000, self._reply)
        else:
            self._reply()

    async def _serve_desk(self, request: Request) -> None:
        self._answer = await self._desk.answer(request)
        if self._answer.pieces is not None and request.method != "HEAD":
            await self._stream(self._answer, self._answer.pieces)
            return
        self._task = None
        self._reply()

    async def _stream(self, answer: Answer, pieces: Iterator[bytes]) -> None:
        """Send pieces as they are made, no faster than they are taken, others in between."""
        self._transport.write(answer.head(keep_alive=True))
        for piece in pieces:
            self._transport.write(b"%x\r\n%b\r\n" % (len(piece), piece))
            await asyncio.sleep(0)
            if self._writing_paused:
                self._room = self._loop.create_future()
                await self._room
        self._task = None
        self._write_last(b"0\r\n\r\n")

    def _reply(self) -> None:
        fault = self._answer.wire_fault
        if fault == "reset":
            self._reset()
        elif fault != "hang":
            self._write_answer()

    def _write_answer(self) -> None:
        answer, request = self._answer, self._request
        if request is None:
            return
        if self._visit is not None:
            self._referee.head(self._visit, status=answer.status, trap=answer.trap)
        if request.method == "HEAD":
            self._write_last(answer.head(keep_alive=request.keep_alive))
        elif answer.wire_fault == "truncated":
            self._truncate()
        elif answer.drip is not None:
            self._transport.write(answer.head(keep_alive=request.keep_alive))
            self._drip(0)
        elif request.keep_alive:
            self._write_last(answer.whole())
        else:
            self._write_last(answer.head(keep_alive=False) + answer.body)

    def _drip(self, sent: int) -> None:
        """Send the next piece after a pause, and the last one like any answer's end."""
        drip, body = self._answer.drip, self._answer.body
        if drip is None:
            return
        size = max(1, -(-len(body) // drip.pieces))
        piece = body[sent : sent + size]

        def send() -> None:
            if sent + size >= len(body):
                self._write_last(piece)
            else:
                self._transport.write(piece)
                self._drip(sent + size)

        self._timer = self._loop.call_later(drip.interval_ms / 1000, send)

    def _write_last(self, data: bytes) -> None:
        self._transport.write(data)
        self._finishing = True
        if not self._writing_paused:
            self._finish()

    def _finish(self) -> None:
        """The answer is out: tell the referee and go on to the next request."""
        request, self._request = self._request, None
        self._finishing = False
        self._timer = None
        if self._visit is not None:
            self._referee.end(self._visit, whole=True)
            self._visit = None
        if request is not None and not request.keep_alive:
            self._transport.close()
        elif self._buffer:
            # Not from here: many small requests in one buffer would nest without end.
            self._loop.call_soon(self._advance)

    def _truncate(self) -> None:
        body = self._answer.body
        self._transport.write(self._answer.head(keep_alive=False) + body[: len(body) // 2])
        self._cut("truncated")
        self._transport.close()

    def _reset(self) -> None:
        """End the connection with a reset rather than an orderly close."""
        self._cut("reset")
        sock = self._transport.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_ZERO)
        self._transport.abort()

    def _cut(self, kind: str) -> None:
        if self._visit is not None:
            self._referee.cut(self._visit, kind=kind)
            self._visit = None

    def _client_is_there(self) -> bool:
        """Look at the socket itself, for the loop may not have told of a hang-up yet."""
        if self._transport.is_closing():
            return False
        number = self._transport.get_extra_info("socket").fileno()
        with socket.socket(fileno=os.dup(number)) as sock:
            try:
                return sock.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) != b""
            except BlockingIOError:
                return True
            except OSError:
                return False
