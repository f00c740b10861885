"""A crawl of the lab by Scrapy workers, killed all along, on a server that is restarted.

The same spider runs on either engine: Scrapy's own with the add-on, or the fast one.

Every page must be fetched, its item must be in the sink, and its host asked as it wants to be. What
is fetched twice must have been in a worker's hands when that was killed. In half of the cases a
death is reported at once, in the others its leases run out.
"""

from __future__ import annotations

import asyncio
import sqlite3
import tempfile
import time
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Literal, get_args

from skitter.errors import UnknownJob
from skitter.frontier import Frontier, HostPolicy
from skitter.lab import LabProcess
from tests.chaos.crew import Crew
from tests.chaos.findings import Findings
from tests.chaos.history import History, read_histories
from tests.chaos.orders import JOB, Order
from tests.chaos.refereed import FEW, Crowd, from_verdict
from tests.chaos.round import DURABLE
from tests.recount import recount
from tests.servers import ServerProcess

if TYPE_CHECKING:
    from skitter.lab import Verdict
    from tests.chaos.nursery import Nursery

Engine = Literal["addon", "fast"]
ENGINES: tuple[Engine, ...] = get_args(Engine)
DATABASE = "items.db"
LEASE_S = 4.0
SETTINGS = {
    "FRONTIER__LEASE_S": str(LEASE_S),
    "FRONTIER__RENEW_MARGIN_S": "1",
    "FRONTIER__TURN_S": "2",
    "FRONTIER__MAX_CRASHES": "100",
    "FRONTIER__CARETAKER_TICK_S": "0.1",
    "RETRY__MAX_ATTEMPTS": "8",
    "RETRY__BASE_S": "0.2",
    "RETRY__MAX_S": "2",
    "ITEMS__SINK": f"sqlite:{DATABASE}",
}


@dataclass
class Tally:
    """What was done to a crawl."""

    kills: int = 0
    restarts: int = 0
    in_hand: int = 0
    """Leases of the killed workers, counted at their deaths."""
    ended: bool = False
    lingering: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class AddonCrowd:
    """restart_at names the kills after which the server is restarted."""

    hosts: int
    seed: int
    engine: Engine = "addon"
    pages: int = 26
    workers: int = 4
    kill_every_s: float = 1.0
    restart_at: tuple[int, ...] = (8, 24)
    bound_s: float = 600.0

    async def run(self, nursery: Nursery) -> tuple[Findings, float]:
        """What was wrong, and the share of the web that was fetched."""
        web = Crowd(hosts=self.hosts, processes=0, seed=self.seed, pages=self.pages).web()
        with ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="skitter-chaos-")))
            lab = stack.enter_context(LabProcess(web))
            server = stack.enter_context(ServerProcess("valkey", options=DURABLE))
            history = History(folder / "round.history", "round")
            stack.callback(history.close)
            order = self._order(server, lab, folder)
            roll = Random(f"addon crowd {self.seed}")
            crew = Crew(nursery, order, role=self.engine, history=history, roll=roll)
            stack.callback(crew.destroy)
            tally = await self._disturb(crew, server, lab, roll)
            return await self._judge(server, lab, folder, tally)

    def _order(self, server: ServerProcess, lab: LabProcess, folder: Path) -> Order:
        environment = {f"SKITTER_{name}": value for name, value in SETTINGS.items()}
        environment["SKITTER_REDIS__URL"] = server.url
        environment["SKITTER_FETCH__RESOLVE"] = lab.rule
        environment["SCRAPY_SETTINGS_MODULE"] = "tests.chaos.project"
        told = {"args": {"seed": lab.url(0)}, "settings": {"SKITTER_JOB": JOB}}
        more = {"environment": environment, **told}
        return Order(server.url, "", str(folder), self.seed, more=more)

    async def _disturb(
        self, crew: Crew, server: ServerProcess, lab: LabProcess, roll: Random
    ) -> Tally:
        """Kill a worker each second until the job has ended, or for too long."""
        tally = Tally()
        async with await Frontier.connect(server.url, worker="round") as frontier:
            await self._set_policies(frontier, lab)
            for _ in range(self.workers):
                crew.start()
            deadline = time.monotonic() + self.bound_s
            while not tally.ended and time.monotonic() < deadline:
                await asyncio.sleep(self.kill_every_s * roll.uniform(0.8, 1.2))
                await self._kill(crew, frontier, tally)
                if tally.kills in self.restart_at:
                    _restart(server, hard=tally.restarts % 2 == 1)
                    tally.restarts += 1
                tally.ended = await has_ended(frontier)
                if not tally.ended:
                    crew.revive()
        tally.lingering = await crew.await_all(timeout_s=20)
        return tally

    async def _set_policies(self, frontier: Frontier, lab: LabProcess) -> None:
        for number in range(1, self.hosts, 2):
            await frontier.hosts.set_policy(lab.web.host(number), HostPolicy(concurrency=FEW))

    async def _kill(self, crew: Crew, frontier: Frontier, tally: Tally) -> None:
        dead = await crew.kill_one(report=False, restart_s=0)
        if dead:
            tally.in_hand += await leases_of(frontier, dead)
            tally.kills += 1
            if tally.kills % 2:
                await frontier.reap(dead)

    async def _judge(
        self, server: ServerProcess, lab: LabProcess, folder: Path, tally: Tally
    ) -> tuple[Findings, float]:
        verdict = await asyncio.to_thread(lab.verdict)
        expected = await asyncio.to_thread(lab.expected)
        findings = from_verdict(verdict)
        _judge_items(findings, expected, _stored(folder / DATABASE))
        judge_ends(findings, tally, folder)
        _judge_fetches(findings, verdict, tally)
        async with await Frontier.connect(server.url, worker="checker") as frontier:
            for text in await recount(frontier):
                findings.add("counter_mismatches", text)
            stats = await frontier.stats.job(JOB)
        for _ in range(stats.pending):
            findings.add("lost", f"requests that never ended: {stats}")
        findings.figures.update(crawled=stats.done, crashes=stats.crashes, buried=stats.buried)
        return findings, verdict.coverage.share if verdict.coverage else 0.0


def _judge_items(findings: Findings, expected: set[str], stored: list[str]) -> None:
    for url in expected - set(stored):
        findings.add("lost_items", url)
    if len(stored) != len(set(stored)):
        findings.add("doubled_items", f"{len(stored)} items of {len(set(stored))} pages")
    findings.figures.update(items=len(stored))


def _judge_fetches(findings: Findings, verdict: Verdict, tally: Tally) -> None:
    """A page that was fetched and not settled at a kill is fetched again, and no other."""
    refetched = verdict.duplicates.count
    if refetched > tally.in_hand:
        text = f"{refetched} pages, {tally.in_hand} in hand: {verdict.duplicates.first[:3]}"
        findings.add("refetched_needlessly", text)
    findings.figures.update(refetched=refetched, in_hand_at_kills=tally.in_hand)


def judge_ends(findings: Findings, tally: Tally, folder: Path) -> None:
    for event in read_histories(folder):
        if event.name == "crash":
            log = (folder / f"{event.worker}.log").read_text(errors="replace")[-2000:]
            findings.add("crashed", f"{event.worker}: {event.fields['error']}\n{log}")
    if not tally.ended:
        findings.add("stalled", f"the job did not end: {tally}")
    for worker in tally.lingering:
        log = (folder / f"{worker}.log").read_text(errors="replace")[-2000:]
        findings.add("stalled", f"{worker} did not leave when the job had ended\n{log}")
    findings.figures.update(workers_killed=tally.kills, server_restarts=tally.restarts)


def _stored(path: Path) -> list[str]:
    """The page of each item in the sink."""
    if not path.exists():
        return []
    with closing(sqlite3.connect(path)) as database:
        return [url for (url,) in database.execute("SELECT url FROM items")]


def _restart(server: ServerProcess, *, hard: bool) -> None:
    if hard:
        server.kill()
    server.restart()


async def has_ended(frontier: Frontier) -> bool:
    try:
        return (await frontier.jobs.record(JOB)).state == "ended"
    except UnknownJob:  # no worker has lived long enough to submit it
        return False


async def leases_of(frontier: Frontier, worker: str) -> int:
    counts = [
        await frontier.shards.command("HLEN", f"{prefix}l:{worker}")
        for prefix in frontier.shards.prefixes
    ]
    return sum(map(int, counts))
