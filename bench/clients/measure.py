"""python -m bench.clients.measure NAME ORIGIN PAGES: a client's CPU and habits, as a JSON line."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING

import uvloop

from bench.clients.clients import open_client

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from bench.clients.clients import Client

HEADERS = [
    ("User-Agent", "bench"),
    ("Accept", "text/html"),
    ("X-oDd-CaSe", "1"),
    ("Accept-Language", "en"),
    ("Accept-Encoding", "gzip, deflate"),
]
ODD_PATHS = ("?a=[b]|c", "?%7e=%7E", "?x='\"", "/../echo/./x", "//double")
TOGETHER = 16
MOST = 100_000
SOON_S = 3.0


async def measure(client: Client, origin: str, pages: int) -> float:
    """ms of CPU for each page."""
    url, left = f"{origin}/page", iter(range(pages))

    async def work() -> None:
        for _ in left:
            status, _, body = await client.get(url, HEADERS)
            assert status == 200, status
            assert len(body) > 10_000

    await client.get(url, HEADERS)
    began_s = time.process_time()
    async with asyncio.TaskGroup() as group:
        for _ in range(TOGETHER):
            group.create_task(work())
    return (time.process_time() - began_s) / pages * 1e3


async def habits(client: Client, origin: str) -> dict[str, object]:
    """What a crawler has to know of it; an error is its own answer."""
    checks: dict[str, Callable[[Client, str], Awaitable[object]]] = {
        "headers_exact": _headers_exact,
        "url_exact": _url_exact,
        "all_cookies": _all_cookies,
        "header_case": _header_case,
        "no_redirect": _no_redirect,
        "sends_once": _sends_once,
        "bounded": _bounded,
        "cancelled": _cancelled,
    }
    found: dict[str, object] = {}
    for name, check in checks.items():
        try:
            async with asyncio.timeout(10):
                found[name] = await check(client, origin)
        except Exception as error:  # noqa: BLE001 - a client may fail in its own way
            found[name] = f"{type(error).__name__}: {error}"[:80]
    return found


async def _headers_exact(client: Client, origin: str) -> bool:
    """Nothing added but the host, in the same order and spelling."""
    _, _, echo = await client.get(f"{origin}/echo", HEADERS)
    lines = echo.decode("latin-1").split("\r\n")[1:-2]
    sent = [line for line in lines if not line.lower().startswith("host:")]
    return sent == [f"{name}: {value}" for name, value in HEADERS]


async def _url_exact(client: Client, origin: str) -> bool:
    """A URL as it stands in a page: what a server makes of it is its own affair."""
    for path in ODD_PATHS:
        _, _, page = await client.get(f"{origin}/echo{path}", HEADERS)
        if page.split(b" ", 2)[1] != f"/echo{path}".encode():
            return False
    return True


async def _all_cookies(client: Client, origin: str) -> bool:
    _, headers, _ = await client.get(f"{origin}/cookies", HEADERS)
    return [value for name, value in headers if name.lower() == "set-cookie"] == [
        "a=1; Path=/",
        "b=2",
    ]


async def _header_case(client: Client, origin: str) -> bool:
    """Names of an answer as they were written."""
    _, headers, _ = await client.get(f"{origin}/cookies", HEADERS)
    return [name for name, _ in headers][:3] == ["Set-Cookie", "X-Case", "set-cookie"]


async def _no_redirect(client: Client, origin: str) -> bool:
    return (await client.get(f"{origin}/moved", HEADERS))[0] == 302


async def _sends_once(client: Client, origin: str) -> bool:
    """A connection that was kept open and closes without an answer is no reason to send again."""
    with suppress(Exception):
        await client.get(f"{origin}/drop", HEADERS)
    return (await _told(client, origin))["dropped"] == 1


async def _bounded(client: Client, origin: str) -> bool:
    """A body without an end is left, and its connection closed."""
    _, _, body = await client.get(f"{origin}/endless", HEADERS, most=MOST)
    return len(body) < 50 * MOST and await _ends(client, origin)


async def _cancelled(client: Client, origin: str) -> bool:
    """A fetch that is cancelled is over at the server too."""
    fetch = asyncio.ensure_future(client.get(f"{origin}/silent", HEADERS))
    await asyncio.sleep(0.2)
    fetch.cancel()
    await asyncio.wait([fetch])
    return await _ends(client, origin)


async def _ends(client: Client, origin: str) -> bool:
    """Whether the server sends nothing endless any more."""
    until_s = time.monotonic() + SOON_S
    while time.monotonic() < until_s:
        if (await _told(client, origin))["endless"] == 0:
            return True
        await asyncio.sleep(0.05)
    return False


async def _told(client: Client, origin: str) -> dict[str, int]:
    found: dict[str, int] = json.loads((await client.get(f"{origin}/told", HEADERS))[2])
    return found


async def main(name: str, origin: str, pages: int) -> None:
    client = await open_client(name)
    cpu_ms = await measure(client, origin, pages)
    told = await _told(client, origin)
    row = {"client": name, "tls": origin.startswith("https"), "cpu_ms": cpu_ms} | told
    print(json.dumps(row | await habits(client, origin)), flush=True)
    await client.close()


if __name__ == "__main__":
    uvloop.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
