"""A process that declares a new field with each put, beside others; see writer.py."""

from __future__ import annotations

import asyncio
import sys

from skitter.sinks import Shape, open_sink
from tests.contract.sinks.items import make_item


async def main() -> None:
    url, name, puts, _ = sys.argv[1:]
    sink = open_sink(url)
    await sink.open()
    print("ready", flush=True)
    sys.stdin.readline()
    for n in range(int(puts)):
        item = make_item(f"{name}-{n}", kind="Offer")
        item.shape = Shape("Offer", {"shared": "text", f"of_{name}_{n}": "numeric"})
        await sink.put([item])
    await sink.close()


if __name__ == "__main__":
    asyncio.run(main())
