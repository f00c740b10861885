"""A crawl of the lab by many processes that are killed all along; its referee is the judge.

Hosts ask for pauses by Crawl-delay or take several requests at once; pages fail now and then. In
half of the cases a killed crawler's death is reported at once, in the others its leases run out.
"""

from __future__ import annotations

import asyncio
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from skitter.frontier import Config, Frontier, HostPolicy, Job, Request
from skitter.lab import Fault, LabProcess, Verdict, WebSpec
from tests.chaos.crew import Crew
from tests.chaos.findings import Findings
from tests.chaos.history import History, read_histories
from tests.chaos.orders import JOB, SPIDER, Order
from tests.chaos.round import DURABLE
from tests.recount import recount
from tests.servers import ServerProcess

if TYPE_CHECKING:
    from tests.chaos.nursery import Child, Nursery

CONFIG = Config(lease_ms=4000, turn_ms=2000, delay_ms=0, concurrency=4, max_crashes=100)
MANY, FEW = 4, 2
"""Requests at a time on hosts with an even number, and on the others."""


@dataclass(frozen=True)
class Crowd:
    hosts: int
    processes: int
    seed: int
    pages: int = 8
    kill_every_s: float = 1.0
    bound_s: float = 240.0
    plant: str = ""

    def web(self) -> WebSpec:
        return WebSpec(
            seed=self.seed,
            hosts=self.hosts,
            pages=self.pages,
            links=8,
            zipf=0.5,
            latency_ms=(1.0, 40.0),
            delays_ms=(0.0, 200.0, 400.0, 0.0, 300.0, 800.0),
            concurrency=(MANY, FEW),
            private_links=0.1,
            redirects=0.05,
            faults=(Fault("503", 0.01), Fault("500", 0.02), Fault("reset", 0.02),
                    Fault("truncated", 0.02), Fault("404", 0.02)),
        )  # fmt: skip

    async def run(self, nursery: Nursery) -> tuple[Findings, float]:
        """What was wrong, and the share of the web that was fetched."""
        with ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="skitter-chaos-")))
            lab = stack.enter_context(LabProcess(self.web()))
            server = stack.enter_context(ServerProcess("valkey", options=DURABLE))
            history = History(folder / "round.history", "round")
            stack.callback(history.close)
            await self._submit(server, lab)
            order = Order(
                server.url,
                "keeper",
                str(folder),
                self.seed,
                plant=self.plant,
                more={"rule": lab.rule},
            )
            roll = Random(f"crowd {self.seed}")
            crew = Crew(nursery, order, role="crawler", history=history, roll=roll)
            stack.callback(crew.destroy)
            keeper = nursery.start("keeper", order)
            stack.callback(keeper.kill)
            ended, kills = await self._crawl(crew, keeper, roll)
            return await self._judge(server, lab, folder, ended=ended, kills=kills)

    async def _submit(self, server: ServerProcess, lab: LabProcess) -> None:
        async with await Frontier.connect(server.url, worker="round", config=CONFIG) as frontier:
            for number in range(1, self.hosts, 2):
                policy = HostPolicy(concurrency=FEW)
                await frontier.hosts.set_policy(lab.web.host(number), policy)
            await frontier.jobs.submit(Job(id=JOB, spider=SPIDER))
            await frontier.add([Request(JOB, lab.url(0))])
            await frontier.jobs.release_hold(JOB)

    async def _crawl(self, crew: Crew, keeper: Child, roll: Random) -> tuple[bool, int]:
        """Whether the job ended in time, and how many crawlers were killed."""
        kills = 0
        for _ in range(self.processes):
            crew.start()
        deadline = asyncio.get_running_loop().time() + self.bound_s
        while not await keeper.wait(self.kill_every_s * roll.uniform(0.5, 1.5)):
            crew.revive()
            if asyncio.get_running_loop().time() > deadline:
                return False, kills
            await crew.kill_one(report=kills % 2 == 0, restart_s=0)
            kills += 1
        await crew.dismiss()
        return True, kills

    async def _judge(
        self, server: ServerProcess, lab: LabProcess, folder: Path, *, ended: bool, kills: int
    ) -> tuple[Findings, float]:
        verdict = await asyncio.to_thread(lab.verdict)
        async with await Frontier.connect(server.url, worker="checker") as frontier:
            mismatches = await recount(frontier)
            stats = await frontier.stats.job(JOB)
        findings = from_verdict(verdict)
        for text in mismatches:
            findings.add("counter_mismatches", text)
        for event in read_histories(folder):
            if event.name == "crash":
                findings.add("crashed", f"{event.worker}: {event.fields['error']}")
        if not ended:
            findings.add("stalled", f"{stats} after {self.bound_s} s")
        findings.figures.update(crawlers_killed=kills, crawled=stats.done, crashes=stats.crashes)
        return findings, verdict.coverage.share if verdict.coverage else 0.0


def from_verdict(verdict: Verdict) -> Findings:
    """What the referee found wrong, and how much it saw."""
    findings = Findings()
    for fault, found in (
        ("gaps_under_policy", verdict.gaps),
        ("concurrency_over_policy", verdict.concurrency),
        ("disallowed", verdict.disallowed),
    ):
        for example in found.first:
            findings.add(fault, str(example))
        findings.faults[fault] += found.count - len(found.first)
    findings.faults = +findings.faults
    findings.figures.update(requests=verdict.requests, duplicates=verdict.duplicates.count)
    margin = verdict.tightest_margin_ms
    findings.examples += [f"tightest margin: {margin} ms"] if margin is not None else []
    return findings
