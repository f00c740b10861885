"""One round on the frontier: a server, a crew of clients, a keeper, faults, and the check."""

from __future__ import annotations

import asyncio
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from skitter.frontier import Frontier, HostPolicy, Job, Request
from tests.chaos.checker import check_histories
from tests.chaos.crew import Crew
from tests.chaos.disturbances import WEIGHTS, Disturbances
from tests.chaos.findings import Findings
from tests.chaos.history import History, read_histories
from tests.chaos.inventory import pending_urls
from tests.chaos.orders import JOB, SPIDER, Order, round_config
from tests.chaos.pace import judge_pace
from tests.chaos.plants import PLANTS
from tests.chaos.web import TinyWeb
from tests.recount import recount
from tests.servers import CutProxy, ServerProcess

if TYPE_CHECKING:
    from tests.chaos.nursery import Child, Nursery
    from tests.servers.programs import Kind

DURABLE = {"appendonly": "yes", "appendfsync": "always"}
SPAN_S = 1.2
BOUND_S = 25.0
PLANTED_BOUND_S = 7.0


@dataclass(frozen=True)
class RoundPlan:
    """Everything that chance decides before a round begins; the seed decides it all."""

    seed: int
    plant: str = ""

    @property
    def server(self) -> Kind:
        return "redis" if self.seed % 2 else "valkey"

    @property
    def bound_s(self) -> float:
        return PLANTED_BOUND_S if self.plant else BOUND_S

    def faults(self) -> list[tuple[str, float]]:
        roll = Random(f"faults {self.seed}")
        kinds = roll.choices(list(WEIGHTS), list(WEIGHTS.values()), k=roll.randint(4, 9))
        if self.plant:
            kinds = list(PLANTS[self.plant].stirred_by) or ["kill client", "stop client"]
        elif self.seed % 10 == 7:
            kinds += ["turn clock forward"]
        return [(kind, roll.uniform(0.1, SPAN_S)) for kind in kinds]

    @property
    def leaps(self) -> bool:
        return any(kind == "turn clock forward" for kind, _ in self.faults())


class Round:
    def __init__(self, plan: RoundPlan, nursery: Nursery) -> None:
        self._plan = plan
        self._nursery = nursery
        self._roll = Random(f"round {plan.seed}")
        self._web = TinyWeb(plan.seed)

    async def run(self) -> Findings:
        with ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="skitter-chaos-")))
            server = stack.enter_context(ServerProcess(self._plan.server, options=DURABLE))
            proxy = stack.enter_context(CutProxy(server.url))
            await self._submit(server)
            order = Order(
                proxy.url,
                "keeper",
                str(folder),
                self._plan.seed,
                plant=self._plan.plant,
                skewed=True,
            )
            history = History(folder / "round.history", "round")
            stack.callback(history.close)
            crew = Crew(self._nursery, order, role="client", history=history, roll=self._roll)
            stack.callback(crew.destroy)
            disturb = Disturbances(self._roll, crew, server, proxy, history)
            ended = await self._work(crew, disturb, order)
            return await self._check(server, folder, ended=ended)

    async def _submit(self, server: ServerProcess) -> None:
        async with await Frontier.connect(
            server.url, worker="round", config=round_config()
        ) as frontier:
            for host in self._web.all_hosts():
                delay_ms, concurrency = self._web.policy(host)
                policy = HostPolicy(delay_ms=delay_ms, concurrency=concurrency)
                await frontier.hosts.set_policy(host, policy)
            await frontier.jobs.submit(Job(id=JOB, spider=SPIDER, robots=False))
            await frontier.add([Request(JOB, self._web.url(0))])
            await frontier.jobs.release_hold(JOB)

    async def _work(self, crew: Crew, disturb: Disturbances, order: Order) -> bool:
        """Whether the job ended in time."""
        keeper = self._nursery.start("keeper", order)
        try:
            for _ in range(self._roll.randint(4, 6)):
                crew.start()
            async with asyncio.TaskGroup() as tasks:
                for kind, after_s in self._plan.faults():
                    tasks.create_task(disturb.run(kind, after_s=after_s))
                ended = await self._wait(crew, keeper)
            disturb.server.resume()
            await crew.dismiss()
            return ended
        finally:
            keeper.kill()

    async def _wait(self, crew: Crew, keeper: Child) -> bool:
        deadline = asyncio.get_running_loop().time() + self._plan.bound_s
        while not await keeper.wait(0.05):
            crew.revive()
            if asyncio.get_running_loop().time() > deadline:
                return False
        return True

    async def _check(self, server: ServerProcess, folder: Path, *, ended: bool) -> Findings:
        async with await Frontier.connect(server.url, worker="checker") as frontier:
            pending = await pending_urls(frontier)
            stats = await frontier.stats.job(JOB)
            mismatches = await recount(frontier)
        events = read_histories(folder)
        findings = check_histories(events, web=self._web, pending=pending)
        if not self._plan.leaps:
            judge_pace(findings, events, self._web)
        for text in mismatches:
            findings.add("counter_mismatches", text)
        if not ended:
            findings.add("stalled", f"{stats} after {self._plan.bound_s} s")
        elif stats.settled != self._web.pages or stats.accepted != self._web.pages:
            findings.add("lost", f"{self._web.pages} URLs, but {stats}")
        return findings
