"""How long until another worker has the requests of a killed one.

Processes lease and renew until SIGKILL; another worker asks for their work as often as the frontier
tells it to, and a caretaker runs at its default pace. Half of the deaths are reported by whoever
started the process, half are left to the lease's end. Time runs from the kill to each new lease.
"""

from __future__ import annotations

import asyncio
import random
import sys
import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from bench.frontier.meter import Figures, Log, Scale, server
from skitter.frontier import Caretaker, Config, Frontier, Job, Request, Settlement

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

LEASE_MS = 2000
HELD = 40
NAMESPACE = "redelivery"


async def measure(scale: Scale, log: Log) -> Figures:
    """The 99th percentile over all requests of all victims."""
    victims = scale.of(12, 4)
    config = Config(delay_ms=0, lease_ms=LEASE_MS)
    figures: Figures = {"redelivery_lease_s": LEASE_MS / 1000}
    with server("valkey", scale) as running:
        async with (
            await Frontier.connect(
                running.url, worker="survivor", namespace=NAMESPACE, config=config
            ) as frontier,
            _caretaking(frontier),
        ):
            for ending, reported in (("", False), ("_reported", True)):
                times = await _kill_all(running.url, frontier, victims, reported=reported)
                p99 = times[int(len(times) * 0.99)]
                log.add("redelivery after SIGKILL", reported=reported, lease_s=LEASE_MS / 1000,
                        requests=len(times), median_s=times[len(times) // 2], p99_s=p99,
                        longest_s=times[-1])  # fmt: skip
                figures[f"redelivery{ending}_p99_s"] = p99
    return figures


@asynccontextmanager
async def _caretaking(frontier: Frontier) -> AsyncIterator[None]:
    task = asyncio.create_task(Caretaker(frontier).run())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _kill_all(url: str, frontier: Frontier, victims: int, *, reported: bool) -> list[float]:
    """A few at once: each has a job and a lane of its own."""
    gate, times = asyncio.Semaphore(4), list[float]()

    async def one(number: int) -> None:
        async with gate:
            name = f"victim-{number}-{int(reported)}"
            times.extend(await _kill(url, frontier, name, reported=reported))

    await asyncio.gather(*(one(number) for number in range(victims)))
    return sorted(times)


async def _kill(url: str, frontier: Frontier, name: str, *, reported: bool) -> list[float]:
    job = Job(id=name, spider=name, robots=False)
    await frontier.jobs.submit(job)
    await frontier.add([Request(name, f"https://{name}-{n}.example.com/") for n in range(HELD)])
    victim = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bench.frontier.victim", url, NAMESPACE, name, str(HELD),
        stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        assert victim.stdout
        assert await victim.stdout.readline() == b"ready\n"
        waiting = asyncio.create_task(_redelivered(frontier, job))
        await asyncio.sleep(random.uniform(0.5, 1.5))
        assert not waiting.done()
    finally:
        victim.kill()
    killed_s = time.perf_counter()
    await victim.wait()
    if reported:
        await frontier.reap(name)
    return [at_s - killed_s for at_s in await waiting]


async def _redelivered(frontier: Frontier, job: Job) -> list[float]:
    """Asks as a worker does: again when there was something, else when it is told to."""
    times: list[float] = []
    while len(times) < HELD:
        found = await frontier.lease([job.lane], count=50)
        times += [time.perf_counter()] * len(found.leases)
        await frontier.settle([Settlement(lease) for lease in found.leases])
        if not found.leases:
            await asyncio.sleep(found.retry_ms / 1000)
    return times
