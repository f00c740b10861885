"""Whoever uses aiohttp beside the engine, which loads it lightly, has certificates checked."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import TYPE_CHECKING

import pytest

from tests.integration.engine.certificates import self_signed, tls_of

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.integration

CODE = """
import asyncio, sys
from skitter.engine.loading import load_parts
load_parts()
import aiohttp
async def main():
    async with aiohttp.ClientSession() as session:
        for verified in (True, False, True):
            try:
                async with session.get(sys.argv[1], ssl=verified) as response:
                    print(response.status)
            except aiohttp.ClientConnectorCertificateError:
                print("refused")
asyncio.run(main())
"""


@pytest.mark.parametrize("trusted", [True, False])
async def test_certificates_are_read_when_they_are_needed(tmp_path: Path, trusted: bool) -> None:
    path = self_signed(tmp_path, "localhost")
    server = await asyncio.start_server(answer, "localhost", ssl=tls_of(path))
    async with server:
        url = f"https://localhost:{server.sockets[0].getsockname()[1]}/"
        trust = {"SSL_CERT_FILE": str(path)} if trusted else {}
        child = await asyncio.create_subprocess_exec(
            sys.executable, "-c", CODE, url, env=os.environ | trust, stdout=asyncio.subprocess.PIPE
        )
        told, _ = await asyncio.wait_for(child.communicate(), 60)
    expected = "200" if trusted else "refused"
    assert told.decode().split() == [expected, "200", expected]


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readuntil(b"\r\n\r\n")
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
    await writer.drain()
    writer.close()
