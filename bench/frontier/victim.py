"""A process that leases requests and renews them until it is killed."""

from __future__ import annotations

import asyncio
import sys

from skitter.frontier import Frontier, lane_of


async def hold(url: str, *, namespace: str, name: str, count: int) -> None:
    async with await Frontier.connect(url, worker=name, namespace=namespace) as frontier:
        leases = (await frontier.lease([lane_of(name)], count=count)).leases
        assert len(leases) == count, f"{len(leases)} of {count}"
        print("ready", flush=True)
        while True:
            await asyncio.sleep(frontier.config.lease_ms / 3000)
            await frontier.renew(leases)


if __name__ == "__main__":
    asyncio.run(hold(sys.argv[1], namespace=sys.argv[2], name=sys.argv[3], count=int(sys.argv[4])))
