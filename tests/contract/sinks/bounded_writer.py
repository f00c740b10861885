"""A process whose files may not grow past a bound: it is told of the failure, and goes on."""

from __future__ import annotations

import asyncio
import resource
import signal
import sys

from skitter.errors import SinkError
from skitter.sinks import open_sink
from tests.contract.sinks.items import make_item

BOUND = 200_000


async def main() -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (BOUND, BOUND))
    sink = open_sink(f"sqlite:{sys.argv[1]}")
    await sink.open()
    await sink.put([make_item("before")])
    try:
        await sink.put([make_item(str(n), text="x" * 5000) for n in range(100)])
    except SinkError as error:
        print(error)
    await sink.put([make_item("after")])
    await sink.close()


if __name__ == "__main__":
    asyncio.run(main())
