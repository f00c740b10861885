"""`python -m bench.autoscaler.record`: crawls the lab with two workers and writes down the load."""

from __future__ import annotations

import asyncio
import json
import tempfile
from pathlib import Path

from bench.autoscaler.load import RECORDED
from skitter.lab import LabProcess, WebSpec
from tests.integration.worker.crew import Crew
from tests.servers import ServerProcess

HOSTS, DELAY_S = 150, 0.5
SPEC = WebSpec(hosts=HOSTS, pages=40, delays_ms=(DELAY_S * 1000,), latency_ms=(20, 200))


async def record(folder: Path) -> list[int]:
    """How many requests were accepted in each second, until the crawl is done."""
    accepted: list[int] = []
    with ServerProcess("valkey") as server, LabProcess(SPEC) as lab:
        async with Crew(server.url, "recorded", folder) as crew:
            crew.start("--processes", "2", lab=lab, log__level="error")
            await crew.crawl("recorded", lab)
            while (await crew.frontier.jobs.record("recorded")).state != "ended":
                await asyncio.sleep(1)
                accepted.append((await crew.frontier.stats.job("recorded")).accepted)
            crew.workers[0].stop()
    return [now - before for before, now in zip([0, *accepted], accepted, strict=False)]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        per_s = asyncio.run(record(Path(folder)))
    found = {"hosts": HOSTS, "delay_s": DELAY_S, "accepted_per_s": per_s}
    RECORDED.write_text(json.dumps(found) + "\n", encoding="utf-8")
    print(json.dumps({"seconds": len(per_s), "accepted": sum(per_s)}))


if __name__ == "__main__":
    main()
