"""The demo's crawl: two shops and an exchange of the lab, twice, with new prices in between."""

from __future__ import annotations

import asyncio
import time
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from skitter.cli.local_lab import lab_flags
from skitter.cli.meter import Meter, Reading
from skitter.cli.overview import added_up
from skitter.cli.progress import Snapshot, rated
from skitter.jobs.submission import Submission
from skitter.lab import ExchangeSpec, LabProcess, ShopSpec, WebSpec
from skitter.orchestrator.finisher import Finisher
from skitter.services import Services, open_services
from skitter.settings import load_settings
from skitter.worker.run import Crew, plan_of, supervisor_of, tending

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from skitter.cli.screens import Screen
    from skitter.lab.verdict import Verdict
    from skitter.settings import Settings

ROUNDS = 2
LOOK_S = 0.3
SINK = "sqlite:.skitter/items.db"
CRAWLS = {
    "shop-us": ("ecommerce", {"recipe": "demo-shop", "locale": "en-US"}, "shop-us.lab"),
    "shop-tn": ("ecommerce", {"recipe": "tunisian-shop"}, "shop-tn.lab"),
    "exchange": ("finance", {"recipe": "demo-exchange"}, "exchange.lab"),
}


@dataclass(frozen=True)
class Plan:
    """How much there is to crawl, and by how many processes."""

    products: int
    tickers: int
    processes: int

    def web(self) -> WebSpec:
        """The exchange asks for a pause, the shops take a few requests at once."""
        return WebSpec(
            hosts=1,
            pages=1,
            shop=ShopSpec(
                products=self.products,
                locales=("en-US", "fr-TN"),
                price_changes=0.3,
                concurrency=4,
            ),
            exchange=ExchangeSpec(tickers=self.tickers, delay_ms=25.0),
        )


@dataclass(frozen=True)
class Outcome:
    """What came of it: the counters of all jobs together, and the referee's word on each round.

    truth is what the sites' own books have, to hold against what was found.
    """

    seconds: float
    total: Reading
    jobs: list[str]
    verdicts: list[Verdict]
    truth: dict[str, set[str]]

    @property
    def polite(self) -> bool:
        return all(verdict.polite for verdict in self.verdicts)


async def run_demo(plan: Plan, screen: Screen) -> Outcome:
    """Crawl in this folder; its files stay."""
    begun = time.monotonic()
    verdicts: list[Verdict] = []
    with LabProcess(plan.web()) as lab:
        settings = demo_settings(lab, plan)
        name = settings.worker.name()
        async with open_services(settings, worker=name) as services, _workers(services):
            demo = _Demo(services, screen, begun)
            for number in range(1, ROUNDS + 1):
                if number > 1:
                    _next_version(lab)
                    screen.say("The shops change prices and stock, the exchange goes on trading.")
                await demo.crawl_all(number)
                verdicts.append(await asyncio.to_thread(lab.verdict, coverage=False))
        seconds = time.monotonic() - begun
        return Outcome(seconds, demo.total, demo.jobs, verdicts, _truth(lab))


def _next_version(lab: LabProcess) -> None:
    """New prices; the referee judges each round by itself, for all is asked for again."""
    lab.set_version(lab.version + 1)
    lab.reset()


def _truth(lab: LabProcess) -> dict[str, set[str]]:
    """What there is to find, as the sites themselves know it: SKUs and tickers."""
    return {
        "Product": {f"{row['host']} {row['sku']}" for row in lab.shop_truth()},
        "Quote": {str(row["ticker"]) for row in lab.exchange_truth()},
    }


def demo_settings(lab: LabProcess, plan: Plan) -> Settings:
    """The defaults, but for the lab: what the user has set up is not for it."""
    flags = lab_flags(lab) | {
        "redis.url": None,
        "embedded.dir": ".skitter",
        "items.sink": [SINK],
        "store.url": "sqlite:.skitter/skitter.db",
        "worker.processes": plan.processes,
        "politeness.concurrency": 4,
        "log.level": "warning",
    }
    return load_settings(flags)


@asynccontextmanager
async def _workers(services: Services) -> AsyncIterator[None]:
    """Worker processes for the spiders that come with Skitter, drained at the end."""
    settings, frontier = services.settings, services.frontier
    crew = Crew(modules=("skitter.spiders",))
    supervisor = supervisor_of(settings, frontier, plan=plan_of(settings), crew=crew)
    async with tending(frontier, tick_s=0.2):
        working = asyncio.create_task(supervisor.run())
        try:
            yield
        finally:
            supervisor.stop()
            await working


class _Demo:
    """All jobs of the demo, as one crawl."""

    def __init__(self, services: Services, screen: Screen, begun: float) -> None:
        self.jobs: list[str] = []
        self.total = Reading(at_s=begun)
        self._services = services
        self._screen = screen
        self._begun = begun
        self._meter = Meter()

    async def crawl_all(self, number: int) -> None:
        """One round of all sites, to its end."""
        jobs = [f"{name}-{number}" for name in CRAWLS]
        for job, (spider, args, host) in zip(jobs, CRAWLS.values(), strict=True):
            seeds = (f"http://{host}/",)
            labels = {"round": str(number)}
            await self._services.jobs.submit(
                Submission(spider=spider, id=job, args=args, seeds=seeds, labels=labels)
            )
        self.jobs += jobs
        while True:
            if await self._ended(jobs, number):
                break
            await asyncio.sleep(LOOK_S)
        services = self._services
        await Finisher(services.frontier, services.store, services.settings).tend()

    async def _ended(self, jobs: list[str], number: int) -> bool:
        frontier = self._services.frontier
        readings = [
            Reading.of(await frontier.stats.job(job), at_s=time.monotonic()) for job in self.jobs
        ]
        self.total = added_up(readings)
        self._meter.note(self.total)
        lanes = {(await frontier.jobs.known(job)).job.lane for job in jobs}
        snapshot = Snapshot(
            job=f"demo, round {number} of {ROUNDS}",
            spider="two shops and an exchange",
            state="running",
            elapsed_s=time.monotonic() - self._begun,
            reading=self.total,
            hosts=await frontier.stats.hosts(lanes),
            workers=len(await frontier.workers.list()),
        )
        records = [await frontier.jobs.record(job) for job in jobs]
        over = all(record.state == "ended" for record in records)
        state = "round over" if over else "running"
        self._screen.show(rated(replace(snapshot, state=state), self._meter))
        return over
