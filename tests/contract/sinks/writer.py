"""A process that writes to a sink: python -m tests.contract.sinks.writer URL NAME PUTS SIZE.

It opens the sink, says `ready`, waits for a line, and puts items one put after the other. The ids
are printed after each put has returned; one item in each put is shared by all writers.
"""

from __future__ import annotations

import asyncio
import sys

from skitter.sinks import open_sink
from tests.contract.sinks.items import make_item


async def main() -> None:
    url, name, puts, size = sys.argv[1:]
    sink = open_sink(url)
    await sink.open()
    print("ready", flush=True)
    sys.stdin.readline()
    for n in range(int(puts)):
        mine = [make_item(f"{name}-{n}-{i}", by=name) for i in range(int(size))]
        await sink.put([make_item(f"shared-{n}", by=name), *mine])
        print(*(item.id for item in mine), flush=True)
    await sink.close()


if __name__ == "__main__":
    asyncio.run(main())
