"""Odd heads of answers are read, at whichever byte they are parted; bad ones stay refused."""

from __future__ import annotations

import asyncio
from typing import Any

import aiohttp
import pytest
from aiohttp.http_exceptions import HttpProcessingError

from skitter.engine.aiohttp_heads import LONGEST_HEAD, read_odd_heads

pytestmark = pytest.mark.unit

OK = b"HTTP/1.1 200 OK\r\nX-A: 1\r\n"
LENGTH = b"Content-Length: 2\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n"
ODD = {
    "no colon": OK + b"nonsense\r\n" + LENGTH + b"\r\nok",
    "a length twice": OK + LENGTH * 2 + b"\r\nok",
    "a length and its like": OK + b"Content-Length: 2, 2\r\n\r\nok",
    "a length beside chunks": OK + LENGTH + CHUNKED + b"\r\n2\r\nok\r\n0\r\n\r\n",
    "a longer body": OK + LENGTH + b"\r\nok and more",
}
BAD = {
    "two lengths": OK + LENGTH + b"Content-Length: 3\r\n\r\nok!",
    "no length": OK + b"Content-Length: two\r\n\r\nok",
    "another protocol": b"ICY 200 OK\r\nnonsense\r\n" + LENGTH + b"\r\nok",
    "a blank in a name": OK + b"X B: 1\r\n" + LENGTH + b"\r\nok",
    "a head without end": OK + b"nonsense\r\n" + b"nonsense\r\n" * LONGEST_HEAD,
}


class _Wire(asyncio.Transport):
    def close(self) -> None:
        """Nobody is at the other end."""


async def _connection(*, skip_payload: bool = False) -> Any:
    async with aiohttp.TCPConnector() as connector:
        read_odd_heads(connector)
        protocol: Any = connector._factory()
    protocol.connection_made(_Wire())
    protocol.set_response_params(read_until_eof=True, skip_payload=skip_payload)
    return protocol


def _feed(protocol: Any, data: bytes, *, size: int) -> None:
    for at in range(0, len(data), size):
        protocol.data_received(data[at : at + size])


@pytest.mark.parametrize("size", [1, 30, 10_000])
@pytest.mark.parametrize("odd", ODD)
async def test_an_odd_head_is_read(odd: str, size: int) -> None:
    protocol = await _connection()
    _feed(protocol, ODD[odd], size=size)
    head, body = await protocol.read()
    assert (head.code, (b"X-A", b"1") in head.raw_headers) == (200, True)
    assert await body.read() == b"ok"
    assert protocol.should_close


@pytest.mark.parametrize("data", [OK + LENGTH + b"\r\nok", OK.replace(b"200", b"204") + b"\r\nok"])
async def test_a_body_where_there_is_none_is_left(data: bytes) -> None:
    protocol = await _connection(skip_payload=b"204" not in data)
    _feed(protocol, data, size=len(data))
    _, body = await protocol.read()
    assert await body.read() == b""
    assert protocol.should_close


@pytest.mark.parametrize("bad", BAD)
async def test_a_bad_head_is_refused(bad: str) -> None:
    protocol = await _connection()
    protocol.data_received(BAD[bad])
    with pytest.raises(HttpProcessingError):
        await protocol.read()


async def test_a_sound_answer_leaves_its_connection_open() -> None:
    protocol = await _connection()
    for _ in range(2):
        protocol.set_response_params(read_until_eof=True)
        _feed(protocol, OK + LENGTH + b"\r\nok", size=7)
        _, body = await protocol.read()
        assert await body.read() == b"ok"
        assert not protocol.should_close
