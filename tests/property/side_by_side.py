"""The real frontier and the model: what a rule needs to drive both, and how they are compared."""

from __future__ import annotations

import asyncio
import itertools
import uuid
from typing import TYPE_CHECKING, Any, TypeVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant

from skitter.frontier import (
    Caretaker,
    Config,
    Fetch,
    Frontier,
    HostPolicy,
    Job,
    Lease,
    Permit,
    Request,
    Settlement,
)
from tests.property import lease_rules
from tests.property.draws import HOSTS, LEASE_MS, SPIDERS, jobs_given
from tests.property.model import COUNTERS, Item, Model
from tests.recount import recount
from tests.servers import delete_keys, list_keys

if TYPE_CHECKING:
    from collections.abc import Coroutine

T = TypeVar("T")

LANES = {Job(id="", spider=spider).lane for spider in SPIDERS}
HOLD_MS = 60_000


class SideBySide(RuleBasedStateMachine):
    """Two workers on one server, a clock that rules move, and a model that follows.

    When an example is over, all that is left is worked off, and the ends are compared.
    """

    url = ""

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.namespace = f"p{uuid.uuid4().hex[:12]}"
        self.now_ms = 1_000_000
        self.serials = itertools.count(1)
        self.frontiers: dict[str, Frontier] = {}
        self.leases: dict[str, Lease | Permit] = {}
        self.tokens: dict[str, str] = {}
        self.sound = False

    def do(self, call: Coroutine[Any, Any, T]) -> T:
        self.sound = False
        return self.runner.run(call)

    @initialize(
        delay_ms=st.sampled_from([0, 0, 1000]),
        job_delay_s=st.sampled_from([None, None, 0, 0.5, 2]),
        first=jobs_given,
        second=jobs_given,
    )
    def connect(
        self,
        delay_ms: int,
        job_delay_s: float | None,
        first: dict[str, Any],
        second: dict[str, Any],
    ) -> None:
        config = Config(
            lease_ms=LEASE_MS, turn_ms=2000, delay_ms=delay_ms, concurrency=3, max_crashes=3
        )
        for name in ("w1", "w2"):
            self.frontiers[name] = self.do(
                Frontier.connect(
                    self.url,
                    worker=name,
                    namespace=self.namespace,
                    config=config,
                    clock=lambda: self.now_ms,
                )
            )
        self.frontier = self.frontiers["w1"]
        self.caretaker = Caretaker(self.frontiers["w2"])
        self.model = Model(config, now_ms=self.now_ms)
        # One wish for all jobs: when wishes differ, a host's pace hangs on what was swept already.
        self.job_delay_s = job_delay_s
        self.submit(first)
        self.submit(second)

    def teardown(self) -> None:
        try:
            if self.sound:  # else it has failed already, and that is what counts
                self.drain()
        finally:
            for frontier in self.frontiers.values():
                self.do(frontier.close())
            self.runner.close()
            keys = [key for key in list_keys(self.url) if self.namespace.encode() in key]
            delete_keys(self.url, keys)

    def step_clock(self, ms: int) -> None:
        self.now_ms += ms
        self.model.now_ms = self.now_ms
        # The shard sees each step, for a leap of half a lease would make it distrust the time.
        self.do(self.frontier.shards.run(0, "expired"))

    def submit(self, facts: dict[str, Any]) -> None:
        job = Job(id=f"j{len(self.model.jobs)}", delay_s=self.job_delay_s, **facts)
        self.do(self.frontier.jobs.submit(job, hold_ms=HOLD_MS))
        self.model.submit(job, hold_ms=HOLD_MS)

    def pick_job(self, pick: int) -> str:
        names = list(self.model.jobs)
        return names[pick % len(names)]

    def pick_lease(self, pick: int, *, permits: bool = False) -> str | None:
        """A token that was handed out at some time: most are held, some are long gone."""
        tokens = [
            token for token, lease in self.leases.items() if permits or isinstance(lease, Lease)
        ]
        if pick >= 10:
            tokens = [token for token in tokens if token in self.model.leases] or tokens
        return tokens[pick % len(tokens)] if tokens else None

    def make(
        self, job: str, pages: list[tuple[str, int, int, bool]], parent: Item | None
    ) -> tuple[list[Request], list[str]]:
        """Requests, and what the model says that becomes of each."""
        requests: list[Request] = []
        items: list[tuple[Item, object]] = []
        met: dict[str, int] = {}
        for host, page, priority, dont_filter in pages:
            url, serial = f"https://{host}/{page}", next(self.serials)
            requests.append(
                Request(job, url, priority=priority, dont_filter=dont_filter, meta={"n": serial})
            )
            mark: object = url
            if dont_filter:
                met[url] = met.get(url, 0) + 1
                mark = (parent.identity if parent else serial, url, met[url])
            items.append((Item(serial, job, host, priority, identity=mark), mark))
        return requests, self.added(items)

    def added(self, items: list[tuple[Item, object]]) -> list[str]:
        """A batch goes in queue by queue: of equal pages that of the queue named first is new."""
        results: dict[int, str] = {}
        for queue in dict.fromkeys(item.queue for item, _ in items):
            for item, mark in items:
                if item.queue == queue:
                    results[item.serial] = self.model.add(item, mark)
        return [results[item.serial] for item, _ in items]

    def ask(self, worker: str, *, count: int, lanes: set[str]) -> int:
        self.model.promote()
        reply = self.do(self.frontiers[worker].lease(sorted(lanes), count=count))
        assert len(reply.leases) <= count
        granted = [
            lease_rules.Granted(
                token=lease.token,
                serial=lease.request.meta["n"],
                delay_ms=lease.delay_ms,
                alone=lease.alone,
                attempts=lease.request.attempts,
                crashes=lease.request.crashes,
            )
            for lease in reply.leases
        ]
        lease_rules.take(self.model, granted, worker=worker, lanes=lanes)
        for lease in reply.leases:
            self.leases[lease.token], self.tokens[lease.token] = lease, worker
        return len(granted)

    @invariant()
    def figures_agree(self) -> None:
        for name, job in self.model.jobs.items() if self.frontiers else ():
            stats = self.do(self.frontier.stats.job(name))
            real = {counter: getattr(stats, counter) for counter in COUNTERS}
            expected = {counter: getattr(job, counter) for counter in COUNTERS}
            if job.state == "ended":  # what was queued is thrown away in the background
                real["discarded"] += stats.queued + stats.delayed
            else:
                assert stats.queued == self.model.count(name, "queued"), name
                assert stats.delayed == self.model.count(name, "delayed"), name
            assert real == expected, (name, real, expected)
            assert stats.leased == self.model.count(name, "leased"), name

        if self.frontiers:
            wrong = self.do(recount(self.frontier))
            assert not wrong, wrong
            self.sound = True

    def drain(self) -> None:
        """Everything comes to its end: each request once, and every job with its outcome."""
        freely = HostPolicy(blocked=False, concurrency=2, robots_ms=10**9)
        for host in HOSTS:
            self.do(self.frontier.hosts.set_policy(host, freely))
            self.model.set_policy(host, freely)
        for name, job in self.model.jobs.items():
            if job.state == "paused":
                self.do(self.frontier.jobs.resume(name))
                job.state = "running"
            self.let_go(name)
        for _ in range(400):
            ended = all(job.state == "ended" for job in self.model.jobs.values())
            if ended and not self.model.leases:
                break
            self.finish_some()
        self.tick()
        self.figures_agree()
        self.check_ends()

    def finish_some(self) -> None:
        self.step_clock(min(LEASE_MS // 2 - 1, 1500))
        self.tick()
        self.ask("w1", count=20, lanes=LANES)
        for token in list(self.model.leases):
            lease = self.leases[token]
            fetch = Fetch(status=200)
            if isinstance(lease, Permit):
                self.do(self.frontiers[self.tokens[token]].fetched([(lease, fetch)]))
                self.model.give_back(token, fetch)
                del self.model.leases[token]
            else:
                settlement = Settlement(lease, fetch=fetch, page=True)
                assert self.do(self.frontiers[self.tokens[token]].settle([settlement])) == [True]
                self.model.settle(token, "done", page=True, fetch=fetch)

    def check_ends(self) -> None:
        for name, job in self.model.jobs.items():
            record = self.do(self.frontier.jobs.record(name))
            assert (record.state, record.outcome) == ("ended", job.outcome), name
            stats = self.do(self.frontier.stats.job(name))
            assert stats.pending == 0, name
            assert (stats.queued, stats.leased, stats.delayed) == (0, 0, 0), name

    def tick(self) -> None:
        self.do(self.caretaker.tend())
        self.model.tend()

    def let_go(self, name: str) -> None:
        self.do(self.frontier.jobs.release_hold(name))
        self.model.jobs[name].held_until_ms = 0
