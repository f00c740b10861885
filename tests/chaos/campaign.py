"""Many rounds, a few side by side, with a line of progress for each and one sum of findings."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

from tests.chaos.findings import Findings
from tests.chaos.plants import PLANTS
from tests.chaos.round import Round, RoundPlan

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.chaos.addon_crowd import AddonCrowd
    from tests.chaos.nursery import Nursery
    from tests.chaos.refereed import Crowd
    from tests.chaos.shop_crowd import ShopCrowd

TRIES = 4


class Campaign:
    def __init__(self, nursery: Nursery, *, at_once: int = 3) -> None:
        self._nursery = nursery
        self._places = asyncio.Semaphore(at_once)
        self.findings = Findings()
        self.fast: dict[str, Any] = {}
        """What the crawl on the fast engine alone has shown."""
        self.stores: dict[str, dict[str, Any]] = {}
        """What the crawls of the shop have shown, by the place that their items went to."""
        self.planted_found = 0
        self.unfound: list[str] = []

    async def run_rounds(self, seeds: Iterable[int]) -> None:
        async with asyncio.TaskGroup() as tasks:
            for number, seed in enumerate(seeds, 1):
                tasks.create_task(self._run_round(number, seed))

    async def _run_round(self, number: int, seed: int) -> None:
        async with self._places:
            started = time.monotonic()
            plan = RoundPlan(seed)
            findings = await Round(plan, self._nursery).run()
        self.findings.merge(findings)
        _say(f"round {number}, seed {seed}, {plan.server}", findings, started)

    async def find_plants(self, names: Iterable[str], *, seed: int) -> None:
        """Each must be found; chance has a few tries to bring it out."""
        async with asyncio.TaskGroup() as tasks:
            for name in names:
                tasks.create_task(self._find_plant(name, seed))

    async def _find_plant(self, name: str, seed: int) -> None:
        for tried in range(TRIES):
            async with self._places:
                started = time.monotonic()
                plan = RoundPlan(seed + tried, plant=name)
                findings = await Round(plan, self._nursery).run()
            if any(findings.faults[fault] for fault in PLANTS[name].found_by):
                self.planted_found += 1
                seconds = time.monotonic() - started
                print(f"planted: {name}: found in {seconds:.1f} s: {dict(findings.faults)}")
                return
        self.unfound.append(name)
        print(f"planted: {name}: NOT FOUND in {TRIES} rounds", flush=True)

    async def run_crowd(self, crowd: Crowd) -> float:
        """The refereed crawl; the share of the web that it covered."""
        started = time.monotonic()
        findings, coverage = await crowd.run(self._nursery)
        self.findings.merge(findings)
        _say(f"{crowd.processes} crawlers, {crowd.hosts} hosts", findings, started)
        return coverage

    async def run_addon(self, crowd: AddonCrowd) -> float:
        """The refereed crawl by Scrapy workers; the share of the web that it covered."""
        started = time.monotonic()
        findings, coverage = await crowd.run(self._nursery)
        self.findings.merge(findings)
        if crowd.engine == "fast":
            self.fast = findings.to_json() | {"coverage": coverage}
        name = f"{crowd.workers} Scrapy workers, {crowd.engine} engine, {crowd.hosts} hosts"
        _say(name, findings, started)
        return coverage

    async def run_shop(self, crowd: ShopCrowd) -> None:
        """The crawl of the shop into one kind of store, held against the shop's truth."""
        started = time.monotonic()
        findings = await crowd.run(self._nursery)
        self.findings.merge(findings)
        self.stores[crowd.store] = findings.to_json()
        _say(f"{crowd.workers} workers, a shop into {crowd.store}", findings, started)


def _say(what: str, findings: Findings, started: float) -> None:
    seconds = time.monotonic() - started
    outcome = f"WRONG: {dict(findings.faults)}" if findings.faults else "ok"
    print(f"{what}: {outcome}, {seconds:.1f} s, {dict(findings.figures)}", flush=True)
    for example in findings.examples:
        print(f"  {example}", flush=True)
