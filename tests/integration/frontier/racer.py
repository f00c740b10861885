"""One of many processes that race for the same work: `python -m tests.integration.frontier.racer`.

It reads its task as JSON from its argument, says `ready`, waits for a line on stdin so that all
start together, and prints what it saw as one line of JSON.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import random
import sys
import time
from typing import Any

import structlog

from skitter.frontier import Caretaker, Fetch, Frontier, Lease, Request, Settlement
from skitter.frontier.completer import Completer


def _pages(lease: Lease, task: dict[str, Any]) -> list[Request]:
    """A page's links: two of its own, and one that all pages of its host share."""
    request = lease.request
    if "chain" in task:
        step = request.depth + 1
        url = f"https://c{step % 7}.example{step % 5}.com/{step}"
        return [Request(request.job, url, depth=step)] if step < task["chain"] else []
    if request.depth >= task.get("depth", 0):
        return []
    urls = [f"{request.url}/x", f"{request.url}/y", f"https://{lease.host}/shared"]
    return [Request(request.job, url, depth=request.depth + 1) for url in urls]


class Racer:
    def __init__(self, frontier: Frontier, task: dict[str, Any]) -> None:
        self.frontier = frontier
        self.task = task
        self.done: list[str] = []
        self.refused = 0
        self.asked: list[tuple[str, float, float]] = []

    async def crawl(self) -> None:
        """Lease and settle until every job has ended."""
        while True:
            leased = await self.frontier.lease(self.task["lanes"], count=self.task["count"])
            if leased.leases:
                await self._work(leased.leases)
            elif await self._all_ended():
                return
            else:
                await asyncio.sleep(min(leased.retry_ms, 20) / 1000)

    async def _work(self, leases: list[Lease]) -> None:
        by_host: dict[str, list[Lease]] = {}
        for lease in leases:
            by_host.setdefault(lease.host, []).append(lease)
        await asyncio.gather(*(self._turn(batch) for batch in by_host.values()))

    async def _turn(self, batch: list[Lease]) -> None:
        """A host's batch, one by one: its delay lies between an answer and the next asking."""
        settlements = []
        free_at = 0.0
        for lease in batch:
            await asyncio.sleep(max(0.0, free_at - time.monotonic()))
            while time.monotonic() < free_at:
                await asyncio.sleep(0)
            ended = await self._fetch(lease)
            free_at = ended + lease.delay_ms / 1000
            settlements.append(
                Settlement(lease, page=True, children=_pages(lease, self.task), figures={"seen": 1})
            )
        answers = await self.frontier.settle(settlements)
        for settlement, taken in zip(settlements, answers, strict=True):
            if taken:
                self.done.append(f"{settlement.lease.request.job} {settlement.lease.request.url}")
            else:
                self.refused += 1

    async def _fetch(self, lease: Lease) -> float:
        started = time.monotonic()
        await asyncio.sleep(self.task.get("fetch_ms", 0) / 1000)
        ended = time.monotonic()
        if self.task.get("record"):
            self.asked.append((lease.host, started, ended))
        ago_ms = (time.monotonic() - ended) * 1000
        await self.frontier.fetched([(lease, Fetch(ago_ms, (ended - started) * 1000, 200))])
        return ended

    async def _all_ended(self) -> bool:
        records = [await self.frontier.jobs.record(job) for job in self.task["jobs"]]
        return all(record.state == "ended" for record in records)

    async def complete(self) -> None:
        """Try to end the jobs at every moment, with no lock to keep others from the same."""
        completer = Completer(self.frontier)
        while True:
            for job in self.task["jobs"]:
                await completer.complete(job)

    async def add(self) -> int:
        """All the same URLs as the others, in an order of its own."""
        urls = [f"https://h{i % 50}.example.com/{i}" for i in range(self.task["urls"])]
        random.shuffle(urls)
        new = 0
        for first in range(0, len(urls), 100):
            requests = [Request(self.task["jobs"][0], url) for url in urls[first : first + 100]]
            new += (await self.frontier.add(requests)).new
        return new


async def run(task: dict[str, Any]) -> dict[str, Any]:
    async with await Frontier.connect(
        task["url"],
        worker=task["worker"],
        namespace=task["namespace"],
        shards=task.get("shards"),
    ) as frontier:
        racer = Racer(frontier, task)
        loop = Caretaker(frontier, tick_s=0.05).run()
        if task.get("completes"):
            loop.close()
            loop = racer.complete()
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        caring = asyncio.create_task(loop)
        new = await racer.add() if task["verb"] == "add" else 0
        if task["verb"] == "crawl":
            await racer.crawl()
        caring.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await caring
    return {"done": racer.done, "refused": racer.refused, "asked": racer.asked, "new": new}


if __name__ == "__main__":
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    print(json.dumps(asyncio.run(run(json.loads(sys.argv[1])))), flush=True)
