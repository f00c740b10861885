"""A frontier with a clock of its own, and the steps that contract tests are made of."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from skitter.frontier import Caretaker, Config, Fetch, Frontier, Job, Request, Settlement
from tests.recount import recount
from tests.servers import list_keys

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skitter.frontier import Added, Lease

START_MS = 1_700_000_000_000
LEASE_MS = 30_000
PATIENCE_S = 5.0
# What outlives all jobs: the shard, hosts with their rankings and robots.txt, last calls, locks.
PERMANENT = (
    "m", "no", "e", "hf", "hx", "eg", "ev", "ex", "wl", "h:", "t:", "td:", "s:", "lock:", "d:@",
)  # fmt: skip


class Backend(NamedTuple):
    """A server, and how many shards to make on it."""

    kind: str
    url: str
    shards: int


@dataclass
class Clock:
    """Time in ms that stands still until a test moves it."""

    now_ms: int = START_MS

    def __call__(self) -> int:
        return self.now_ms

    def step(self, ms: int) -> None:
        self.now_ms += ms


@dataclass
class Crawl:
    """One worker's frontier; `worker(name)` opens another on the same shards."""

    backend: Backend
    namespace: str
    frontier: Frontier
    clock: Clock
    others: list[Crawl] = field(default_factory=list)

    @classmethod
    async def open(cls, backend: Backend, namespace: str, *, config: Config, **kw: Any) -> Crawl:
        clock = kw.pop("clock", None) or Clock()
        frontier = await Frontier.connect(
            kw.pop("url", backend.url),
            worker=kw.pop("worker", "w1"),
            namespace=namespace,
            shards=backend.shards,
            config=config,
            clock=clock,
            **({"patience_s": PATIENCE_S} | kw),
        )
        return cls(backend, namespace, frontier, clock)

    async def worker(self, name: str, **kw: Any) -> Crawl:
        config = self.frontier.shards.config
        opened = await Crawl.open(
            self.backend, self.namespace, config=config, worker=name, clock=self.clock, **kw
        )
        self.others.append(opened)
        return opened

    async def job(self, name: str = "j", *, held: bool = False, **fields: Any) -> Job:
        """A job that needs no robots.txt, and is not held open unless asked for."""
        named: dict[str, Any] = {"id": name, "spider": "spider", "robots": False} | fields
        job = Job(**named)
        await self.frontier.jobs.submit(job)
        if not held:
            await self.frontier.jobs.release_hold(name)
        return job

    async def add(self, *urls: str, job: str = "j", **fields: Any) -> Added:
        return await self.frontier.add([Request(job, url, **fields) for url in urls])

    async def lease(
        self,
        count: int = 100,
        *,
        jobs: Sequence[Job] = (),
        egresses: Sequence[str] = ("direct",),
    ) -> list[Lease]:
        """What can be leased now, asked of every shard: its pauses are of the machine's clock.

        A host without a delay that was served is looked at again a millisecond later.
        """
        if self.frontier.shards.config.delay_ms == 0:
            self.clock.step(1)
        lanes = [job.lane for job in jobs] or [Job(id="", spider="spider").lane]
        self.frontier._ask_after.clear()
        return (await self.frontier.lease(lanes, count=count, egresses=egresses)).leases

    async def lease_urls(self, count: int = 100, **kw: Any) -> list[str]:
        return [lease.request.url for lease in await self.lease(count, **kw)]

    async def one(self, url: str, **fields: Any) -> Lease:
        """A job (unless it is there), a request, and its lease."""
        if "j" not in await self.frontier.jobs.live():
            await self.job()
        assert (await self.add(url, **fields)).new == 1
        [lease] = await self.lease(1)
        return lease

    async def settle(self, *leases: Lease, status: int = 200, **fields: Any) -> list[bool]:
        """Fetched just now, and settled the same way each."""
        fetch = fields.pop("fetch", Fetch(latency_ms=0, status=status))
        return await self.frontier.settle(
            [Settlement(lease, fetch=fetch, **fields) for lease in leases]
        )

    async def tend(self, times: int = 1) -> None:
        """Let a caretaker do its rounds; one that went before has let go of its lock by then."""
        caretaker = Caretaker(self.frontier)
        for _ in range(times):
            await caretaker.tend()
        await caretaker._unlock()

    async def outlast_leases(self) -> None:
        """Time goes by in steps too small to count as a leap, until every lease has run out."""
        for _ in range(4):
            self.clock.step(LEASE_MS // 3)
            await self.frontier.reap()

    async def finish_all(self, job: str = "j") -> str:
        """Crawl to the end; the outcome."""
        for _ in range(1000):
            leases = await self.lease()
            await self.settle(*leases, page=True)
            if not leases:
                await self.tend()
                record = await self.frontier.jobs.record(job)
                if record.state == "ended":
                    return record.outcome
                self.clock.step(1000)
        raise AssertionError("the job does not end")

    async def raw(self, *command: Any) -> Any:
        return await self.frontier.shards.command(*command)

    def key(self, host: str, name: str) -> str:
        """A key in a host's shard."""
        from skitter.frontier.keys import shard_of_host  # noqa: PLC0415

        count = self.frontier.shards.count
        return self.frontier.shards.prefixes[shard_of_host(host, count)] + name

    async def counts_are_right(self) -> None:
        mismatches = await recount(self.frontier)
        assert mismatches == [], mismatches

    async def wind_up(self) -> None:
        """End and forget everything, and see that nothing is left of it."""
        await self.counts_are_right()
        frontier = self.frontier
        register = f"{frontier.shards.prefixes[0]}ids"
        jobs = [name.decode() for name in await frontier.shards.command("HKEYS", register)]
        for job in await frontier.jobs.live():
            await frontier.jobs.stop(job)
        await self._reap_all()
        self.clock.step(6_000)
        await self.tend(times=2)
        await self.counts_are_right()
        await frontier.dead.discard(await frontier.dead.find(limit=1_000_000))
        for job in jobs:
            await frontier.jobs.forget(job)
        assert self.leaks() == []

    async def _reap_all(self) -> None:
        for prefix in self.frontier.shards.prefixes:
            for member in await self.raw("ZRANGE", f"{prefix}due", 0, -1):
                await self.frontier.reap(member.decode().rpartition("/")[0])

    def leaks(self) -> list[str]:
        names = [
            key.decode().partition("}")[2]
            for key in list_keys(self.backend.url)
            if self.namespace.encode() in key
        ]
        exact = {name for name in PERMANENT if not name.endswith((":", "@"))}
        begins = tuple(name for name in PERMANENT if name.endswith((":", "@")))
        return [name for name in names if name not in exact and not name.startswith(begins)]

    async def close(self) -> None:
        for other in self.others:
            await other.close()
        await self.frontier.close()


def hosts(count: int) -> list[str]:
    """Hosts of as many registered domains, so that they lie in all shards."""
    return [f"www.site{n}.com" for n in range(count)]


def pages(host: str, count: int) -> list[str]:
    return [f"https://{host}/{n}" for n in range(count)]
