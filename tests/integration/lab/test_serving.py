"""The server on bare sockets and through clients: hosts, proxy, methods, connections."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import aiohttp
import pytest

from skitter.lab import LabServer, LabSpecError, WebSpec

if TYPE_CHECKING:
    from skitter.lab.pytest_plugin import StartLab
    from tests.integration.lab.conftest import Client


async def talk(web: LabServer, sent: bytes) -> bytes:
    """Everything that the server says until it closes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", web.port)
    writer.write(sent)
    answer = await reader.read()
    writer.close()
    await writer.wait_closed()
    return answer


async def test_hosts_are_told_apart_on_one_port(lab: StartLab, client: Client) -> None:
    web = await lab(WebSpec(hosts=1_000_000))
    session = await client(web)
    for number in (0, 7, 999_999):
        text = await (await session.get(web.url(number, "/p/3"))).text()
        assert f"Page 3 of h{number}.lab" in text
    assert (await session.get(web.url("h1000000.lab"))).status == 404


async def test_it_is_an_http_proxy(lab: StartLab) -> None:
    web = await lab()
    async with aiohttp.ClientSession() as session:
        answer = await session.get(web.url(4, "/p/2"), proxy=web.proxy)
        assert "Page 2 of h4.lab" in await answer.text()


async def test_a_tunnel_is_refused_with_the_reason(lab: StartLab) -> None:
    web = await lab()
    answer = await talk(web, b"CONNECT h0.lab:443 HTTP/1.1\r\nHost: h0.lab:443\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 501 ")
    assert b"opens no tunnels" in answer


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"nonsense\r\n\r\n", 400),
        (b"DELETE / HTTP/1.1\r\nHost: h0.lab\r\n\r\n", 405),
        (b"POST / HTTP/1.1\r\nHost: h0.lab\r\nTransfer-Encoding: chunked\r\n\r\n", 411),
        (b"POST / HTTP/1.1\r\nHost: h0.lab\r\nContent-Length: x\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nHost: h0.lab\r\nContent-Length: 99999999\r\n\r\n", 413),
        (b"GET / HTTP/1.1\r\nHost: h0.lab\r\nX: " + b"x" * 66_000, 431),
    ],
)
async def test_what_cannot_be_served_is_refused_and_the_connection_ends(
    lab: StartLab, sent: bytes, status: int
) -> None:
    answer = await talk(await lab(), sent)
    assert answer.startswith(f"HTTP/1.1 {status} ".encode())


async def test_head_gives_the_head_alone(lab: StartLab, client: Client) -> None:
    web = await lab()
    session = await client(web)
    whole = await session.get(web.url(0))
    head = await session.head(web.url(0))
    assert await head.read() == b""
    assert head.headers == whole.headers


async def test_a_connection_is_used_again_unless_the_client_is_done_with_it(lab: StartLab) -> None:
    web = await lab()
    one = b"GET /p/1 HTTP/1.1\r\nHost: h0.lab\r\n\r\n"
    last = b"GET /p/2 HTTP/1.1\r\nHost: h0.lab\r\nConnection: close\r\n\r\n"
    answer = await talk(web, one * 200 + last)
    assert answer.count(b"HTTP/1.1 200 OK") == 201
    assert answer.count(b"Connection: close") == 1
    assert b"Page 2 of" in answer
    assert (await talk(web, b"GET / HTTP/1.0\r\nHost: h0.lab\r\n\r\n")).startswith(b"HTTP/1.1 200")


async def test_a_request_in_small_pieces_is_put_together(lab: StartLab) -> None:
    web = await lab()
    reader, writer = await asyncio.open_connection("127.0.0.1", web.port)
    for byte in b"POST /echo HTTP/1.1\r\nHost: h0.lab\r\nContent-Length: 5\r\n\r\nhello":
        writer.write(bytes([byte]))
        await writer.drain()
        await asyncio.sleep(0)
    assert b"200 OK" in await reader.readuntil(b"\r\n\r\n")
    assert b'"method": "POST"' in await reader.readuntil(b'"body": "hello"}')
    writer.close()
    await writer.wait_closed()


async def test_requests_sent_ahead_on_one_connection_are_gaps(lab: StartLab) -> None:
    web = await lab(WebSpec(delays_ms=(50,), latency_ms=(5, 5)))
    one = b"GET /p/%d HTTP/1.1\r\nHost: h0.lab\r\n\r\n"
    last = b"GET / HTTP/1.1\r\nHost: h0.lab\r\nConnection: close\r\n\r\n"
    await talk(web, one % 1 + one % 2 + last)
    assert (await web.verdict()).gaps.count == 2


async def test_a_large_page_is_over_only_when_it_is_read(lab: StartLab) -> None:
    web = await lab(WebSpec(page_bytes=20_000_000, concurrency=(1,)))
    reader, writer = await asyncio.open_connection("127.0.0.1", web.port)
    writer.write(b"GET / HTTP/1.1\r\nHost: h0.lab\r\nConnection: close\r\n\r\n")
    await reader.readexactly(1000)
    assert (await web.verdict()).statuses == {}
    assert len(await reader.read()) > 19_999_000
    assert (await web.verdict()).statuses == {"200": 1}
    writer.close()
    await writer.wait_closed()


async def test_a_port_in_use_is_a_clear_error(lab: StartLab) -> None:
    web = await lab()
    with pytest.raises(LabSpecError, match=f"cannot listen on 127.0.0.1:{web.port}"):
        await LabServer(port=web.port).start()


async def test_stopping_cuts_what_is_on_its_way(client: Client) -> None:
    async with LabServer() as web:
        session = await client(web)
        waiting = asyncio.create_task(session.get(web.url(0, "/slow/60000")))
        await (await session.get(web.url(0))).read()
    with pytest.raises(aiohttp.ClientError):
        await waiting
