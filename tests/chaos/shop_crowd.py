"""A crawl of the lab's shop by workers that are killed all along, into a database that is killed
too, or into files; what is stored must be the shop's truth: each product once, each field right.

While the database is away the crawl must hold: workers keep what they have, those that start wait
for it, the job does not end. Half of the deaths are reported, the others' leases run out.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from skitter.frontier import Frontier
from skitter.lab import LabProcess, ShopSpec, WebSpec
from skitter.sinks.quarantine import Quarantine
from tests.chaos.addon_crowd import SETTINGS, Tally, has_ended, judge_ends, leases_of
from tests.chaos.crew import Crew
from tests.chaos.fast_worker import SHOP_SPIDER
from tests.chaos.findings import Findings
from tests.chaos.history import History
from tests.chaos.orders import JOB, Order
from tests.chaos.refereed import from_verdict
from tests.chaos.round import DURABLE
from tests.chaos.stores import Store, StoreName, open_store
from tests.recount import recount
from tests.servers import ServerProcess
from tests.truth import by, comparable, product_truth

if TYPE_CHECKING:
    from tests.chaos.nursery import Nursery

SHOPS: dict[StoreName, tuple[str, dict[str, str]]] = {
    "postgres": ("fr-TN", {"recipe": "tunisian-shop"}),
    "mongo": ("de-DE", {"recipe": "demo-shop", "locale": "de-DE"}),
    "jsonl": ("fr-FR", {"recipe": "demo-shop", "locale": "fr-FR"}),
}
"""The shop that goes to each store, and how its spider reads it."""


@dataclass
class Toll(Tally):
    """What was done to a crawl and to its database."""

    database_kills: int = 0
    stored_at_kills: list[int] = field(default_factory=list)
    """How many items there were when the database had come back."""
    ended_early: bool = False
    """Whether the job ended without a database, and without all of its items."""


@dataclass(frozen=True)
class ShopCrowd:
    """away_at names the kills after which the database is killed, and is away for away_s.

    most_kills bounds the kills where a slow machine would see more of them than of the crawl.
    """

    store: StoreName
    seed: int
    products: int = 400
    workers: int = 4
    kill_every_s: float = 1.0
    most_kills: int = 1000
    away_at: tuple[int, ...] = (4, 12)
    away_s: float = 4.0
    bound_s: float = 300.0

    def web(self) -> WebSpec:
        locale, _ = SHOPS[self.store]
        shop = ShopSpec(products=self.products, locales=(locale,), twice=0.3, aliases=0.5)
        return WebSpec(seed=self.seed, hosts=1, pages=1, shop=shop, latency_ms=(50.0, 400.0))

    async def run(self, nursery: Nursery) -> Findings:
        """What was wrong."""
        with ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="skitter-chaos-")))
            lab = stack.enter_context(LabProcess(self.web()))
            server = stack.enter_context(ServerProcess("valkey", options=DURABLE))
            store = stack.enter_context(open_store(self.store, folder))
            history = History(folder / "round.history", "round")
            stack.callback(history.close)
            roll = Random(f"shop crowd {self.seed}")
            order = self._order(server, lab, store, folder)
            crew = Crew(nursery, order, role="fast", history=history, roll=roll)
            stack.callback(crew.destroy)
            toll = await self._disturb(crew, server, store, roll)
            return await self._judge(server, lab, store, toll, folder)

    def _order(self, server: ServerProcess, lab: LabProcess, store: Store, folder: Path) -> Order:
        locale, args = SHOPS[self.store]
        environment = {f"SKITTER_{name}": value for name, value in SETTINGS.items()}
        environment["SKITTER_REDIS__URL"] = server.url
        environment["SKITTER_FETCH__RESOLVE"] = lab.rule
        environment["SKITTER_ITEMS__SINK"] = store.url
        url = lab.url(ShopSpec().host(locale))
        more = {
            "environment": environment,
            "spider": SHOP_SPIDER,
            "args": args | {"url": url},
            "settings": {"SKITTER_JOB": JOB},
        }
        return Order(server.url, "", str(folder), self.seed, more=more)

    async def _disturb(self, crew: Crew, server: ServerProcess, store: Store, roll: Random) -> Toll:
        """Kill a worker each second until the job has ended, or for too long."""
        toll = Toll()
        async with await Frontier.connect(server.url, worker="round") as frontier:
            for _ in range(self.workers):
                crew.start()
            deadline = time.monotonic() + self.bound_s
            while not toll.ended and time.monotonic() < deadline:
                await asyncio.sleep(self.kill_every_s * roll.uniform(0.8, 1.2))
                if toll.kills < self.most_kills:
                    await self._harm(store, crew, frontier, toll)
                toll.ended = await has_ended(frontier)
                if not toll.ended:
                    crew.revive()
        toll.lingering = await crew.await_all(timeout_s=20)
        return toll

    async def _harm(self, store: Store, crew: Crew, frontier: Frontier, toll: Toll) -> None:
        await _kill(crew, frontier, toll)
        if store.database and toll.kills in self.away_at:
            await self._take_away(store, crew, frontier, toll)

    async def _take_away(self, store: Store, crew: Crew, frontier: Frontier, toll: Toll) -> None:
        """Kill the database, and a worker while it is away: the next one finds none."""
        assert store.database is not None
        store.database.kill()
        toll.database_kills += 1
        await asyncio.sleep(self.away_s / 2)
        await _kill(crew, frontier, toll)
        await asyncio.sleep(self.away_s / 2)
        ended = await has_ended(frontier)
        store.database.start()
        toll.stored_at_kills.append(len(store.items(JOB)))
        toll.ended_early |= ended and toll.stored_at_kills[-1] < self.products

    async def _judge(
        self, server: ServerProcess, lab: LabProcess, store: Store, toll: Toll, folder: Path
    ) -> Findings:
        findings = from_verdict(await asyncio.to_thread(lab.verdict, coverage=False))
        truth = [product_truth(row) for row in lab.shop_truth()]
        judge_items(findings, truth, store.items(JOB))
        for text in store.torn():
            findings.add("torn_lines", text)
        judge_ends(findings, toll, folder)
        _judge_database(findings, toll, folder, products=len(truth))
        async with await Frontier.connect(server.url, worker="checker") as frontier:
            for text in await recount(frontier):
                findings.add("counter_mismatches", text)
            stats = await frontier.stats.job(JOB)
        for _ in range(stats.pending):
            findings.add("lost", f"requests that never ended: {stats}")
        if stats.buried:
            findings.add("lost", f"requests that were buried: {stats}")
        findings.figures.update(crawled=stats.done, crashes=stats.crashes)
        return findings


async def _kill(crew: Crew, frontier: Frontier, toll: Toll) -> None:
    dead = await crew.kill_one(report=False, restart_s=0)
    if dead:
        toll.in_hand += await leases_of(frontier, dead)
        toll.kills += 1
        if toll.kills % 2:
            await frontier.reap(dead)


def judge_items(
    findings: Findings, truth: list[dict[str, Any]], stored: list[dict[str, Any]]
) -> None:
    """Each product once, and as it is."""
    expected = by("sku", truth)
    seen: set[str] = set()
    for item in stored:
        sku = str(item.get("sku"))
        if sku in seen:
            findings.add("doubled_items", sku)
        elif comparable(item) != expected.get(sku):
            findings.add("wrong_items", f"{comparable(item)} is not {expected.get(sku)}")
        seen.add(sku)
    for sku in expected.keys() - seen:
        findings.add("lost_items", sku)
    findings.figures.update(items=len(stored))


def _judge_database(findings: Findings, toll: Toll, folder: Path, *, products: int) -> None:
    if toll.ended_early:
        findings.add("lost", "the job ended while its database was away")
    quarantine = folder / ".skitter" / "quarantine.db"
    for entry in Quarantine(quarantine).entries() if quarantine.exists() else ():
        findings.add("wrong_items", f"in quarantine: {entry.reason}")
    if toll.stored_at_kills and min(toll.stored_at_kills) >= products:
        findings.add("stalled", "the database was killed after the crawl, not in its middle")
    findings.figures.update(database_kills=toll.database_kills)
