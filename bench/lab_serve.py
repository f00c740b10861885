"""How many pages the lab serves per second of its own CPU, rendered live and beforehand.

The lab runs in a process of its own; this one loads it over keep-alive connections with a client
that does nothing but count bytes. CPU seconds of the server are the measure, so a busy machine
changes the figure little. Run: python bench/lab_serve.py [--seconds 3] [--connections 32]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from typing import cast

import psutil

from skitter.lab import LabProcess, WebSpec
from skitter.lab.run import run_fast

SPEC = WebSpec(hosts=200, pages=50, links=30, page_bytes=10_000)


class Load(asyncio.Protocol):
    """Asks for one page after another until told to stop."""

    def __init__(self, requests: list[bytes], counter: list[int]) -> None:
        self._requests = requests
        self._counter = counter
        self._left = -1
        self._transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._ask()

    def data_received(self, data: bytes) -> None:
        if self._left < 0:
            end = data.index(b"\r\n\r\n") + 4
            start = data.index(b"Content-Length: ") + 16
            self._left = int(data[start : data.index(b"\r\n", start)]) - (len(data) - end)
        else:
            self._left -= len(data)
        if self._left == 0:
            self._left = -1
            self._ask()

    def _ask(self) -> None:
        number = self._counter[0]
        self._counter[0] += 1
        self._transport.write(self._requests[number % len(self._requests)])


async def load(port: int, *, seconds: float, connections: int) -> int:
    """Pages served in the time."""
    requests = [
        f"GET {f'/p/{page}' if page else '/'} HTTP/1.1\r\nHost: h{host}.lab\r\n"
        "Accept: text/html\r\nAccept-Encoding: identity\r\nUser-Agent: bench\r\n\r\n".encode()
        for host in range(SPEC.hosts)
        for page in range(SPEC.pages)
    ]
    counter = [0]
    loop = asyncio.get_running_loop()
    pairs = [
        await loop.create_connection(lambda: Load(requests, counter), "127.0.0.1", port)
        for _ in range(connections)
    ]
    await asyncio.sleep(seconds)
    for transport, _ in pairs:
        transport.abort()
    return counter[0]


def measure(*, prerender: int, seconds: float, connections: int) -> dict[str, float]:
    """Pages per second, by the clock and by the server's CPU."""
    with LabProcess(SPEC, prerender=prerender) as lab:
        child = psutil.Process(lab.pid)
        cpu_before_s, began_s = sum(child.cpu_times()[:2]), time.monotonic()
        pages = run_fast(load(lab.port, seconds=seconds, connections=connections))
        cpu_s, wall_s = sum(child.cpu_times()[:2]) - cpu_before_s, time.monotonic() - began_s
        assert lab.verdict(coverage=False).statuses["200"] >= pages - connections
    return {"pages_per_s": pages / wall_s, "pages_per_cpu_s": pages / cpu_s}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--connections", type=int, default=32)
    options = parser.parse_args()
    load_options = {"seconds": options.seconds, "connections": options.connections}
    live = measure(prerender=0, **load_options)
    ready = measure(prerender=SPEC.hosts * SPEC.pages, **load_options)
    results = {
        "page_bytes": SPEC.page_bytes,
        "links": SPEC.links,
        **{f"live_{name}": round(value) for name, value in live.items()},
        **{f"prerendered_{name}": round(value) for name, value in ready.items()},
    }
    print(json.dumps(results))


if __name__ == "__main__":
    main()
