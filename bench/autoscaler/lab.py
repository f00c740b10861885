"""`python -m bench.autoscaler.lab`: `skitter worker --autoscale` on the lab, at full size.

A burst of 100,000 URLs on many hosts, then a queue of one slow host, then nothing. Prints how the
number of processes went, and what the referee saw, as one JSON line.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skitter.frontier import Frontier, Job, Request
from skitter.lab import LabProcess, WebSpec
from tests.integration.worker.crew import Crew, Worker
from tests.servers import ServerProcess
from tests.wait import wait_until_async

if TYPE_CHECKING:
    from collections.abc import Iterable

SLOW_S = 90.0
ADDED_AT_ONCE = 1000


class Scaled:
    """A worker that scales by itself, read by what it logs."""

    def __init__(self, crew: Crew, lab: LabProcess, *, bounds: str, **settings: str) -> None:
        given = {"log__format": "json", "log__level": "info", "worker__heartbeat_s": "0.5"}
        self.worker: Worker = crew.start("--autoscale", bounds, lab=lab, **(given | settings))

    @property
    def counts(self) -> list[int]:
        """How many processes it had, from its start on."""
        said = [line for line in self.worker.log().splitlines() if '"workers"' in line]
        rows = [json.loads(line) for line in said]
        return [0, *(int(row["to"]) for row in rows if row.get("event") == "workers")]

    @property
    def turns(self) -> int:
        """How often the number went the other way."""
        steps = [after - before for before, after in pairwise(self.counts) if after != before]
        return sum((before > 0) != (after > 0) for before, after in pairwise(steps))

    async def until(self, number: int, *, timeout_s: float) -> None:
        """Until it has so many processes."""
        await wait_until_async(
            lambda: self.counts[-1] == number,
            timeout_s=timeout_s,
            what=f"{number} processes, not {self.counts}",
        )


async def queue(frontier: Frontier, job: str, urls: Iterable[str]) -> int:
    """Submit a job for the spider `links` with URLs that it begins with; how many there were."""
    await frontier.jobs.submit(Job(id=job, spider="links", args={"seeds": ""}))
    batch: list[Request] = []
    total = 0
    for url in urls:
        batch.append(Request(job=job, url=url))
        total += 1
        if len(batch) == ADDED_AT_ONCE:
            await frontier.add(batch)
            batch = []
    if batch:
        await frontier.add(batch)
    await frontier.jobs.release_hold(job)
    return total


def pages_of(lab: LabProcess, hosts: range) -> Iterable[str]:
    """All pages of some hosts."""
    pages = lab.web.spec.pages
    return (lab.url(host, f"/p/{n}" if n else "/") for n in range(pages) for host in hosts)


async def measure(folder: Path, *, hosts: int, pages: int, most: int) -> dict[str, Any]:
    """The three loads one after the other."""
    slow = WebSpec(hosts=1, pages=400, delays_ms=(2000,), host_pattern="slow{n}.lab")
    many = WebSpec(hosts=hosts, pages=pages, delays_ms=(1000,), latency_ms=(20, 200), links=5)
    with ServerProcess("valkey") as server:
        async with Crew(server.url, "autoscaler", folder) as crew:
            with LabProcess(many) as lab:
                burst = await _burst(crew, lab, hosts=hosts, most=most)
            with LabProcess(slow) as lab:
                one = await _slow(crew, lab, most=most)
    return {"bench": "autoscaler lab", "burst": burst, "slow_host": one}


async def _burst(crew: Crew, lab: LabProcess, *, hosts: int, most: int) -> dict[str, Any]:
    scaled = Scaled(crew, lab, bounds=f"0-{most}", politeness__delay_s="1")
    begun = time.monotonic()
    queued = await queue(crew.frontier, "burst", pages_of(lab, range(hosts)))
    await crew.until_ended("burst", timeout_s=3600)
    took_s = time.monotonic() - begun
    await scaled.until(0, timeout_s=600)
    scaled.worker.stop()
    verdict = lab.verdict(coverage=False)
    return {"urls": queued, "took_s": round(took_s), "counts": scaled.counts,
            "changes_of_direction": scaled.turns, "polite": verdict.polite}  # fmt: skip


async def _slow(crew: Crew, lab: LabProcess, *, most: int) -> dict[str, Any]:
    scaled = Scaled(crew, lab, bounds=f"0-{most}", politeness__delay_s="2")
    queued = await queue(crew.frontier, "slow", pages_of(lab, range(1)))
    await scaled.until(1, timeout_s=60)
    await asyncio.sleep(SLOW_S)
    most_seen = max(scaled.counts)
    await crew.frontier.jobs.stop("slow")
    await scaled.until(0, timeout_s=600)
    scaled.worker.stop()
    return {"urls": queued, "counts": scaled.counts, "most": most_seen}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hosts", type=int, default=2000)
    parser.add_argument("--pages", type=int, default=50)
    parser.add_argument("--most", type=int, default=4)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = asyncio.run(
            measure(Path(folder), hosts=options.hosts, pages=options.pages, most=options.most)
        )
    print(json.dumps(found))


if __name__ == "__main__":
    main()
