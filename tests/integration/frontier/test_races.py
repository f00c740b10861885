"""Many processes at once on one server: nothing twice, nothing lost, nobody asked too soon."""

from __future__ import annotations

from collections import Counter, defaultdict
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from skitter.frontier import Config, Frontier, Job, Request
from tests.integration.frontier.race import race
from tests.recount import recount
from tests.servers import delete_keys, list_keys
from tests.wait import wait_until_async

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from tests.servers import ServerProcess

PROCESSES = 8
HOSTS = [f"h{n}.site{n % 37}.com" for n in range(200)]

pytestmark = pytest.mark.timeout(240)


class Race:
    """A frontier of the test's own, and the task that it gives to the racers."""

    def __init__(self, frontier: Frontier, url: str, namespace: str) -> None:
        self.frontier = frontier
        self.task: dict[str, Any] = {"url": url, "namespace": namespace, "verb": "crawl"}

    async def submit(self, *jobs: Job) -> None:
        for job in jobs:
            await self.frontier.jobs.submit(job)
        self.task |= {
            "jobs": [job.id for job in jobs],
            "lanes": sorted({job.lane for job in jobs}),
            "count": 8,
        }

    async def seed(self, job: str, count: int) -> None:
        """So many requests, spread over the hosts."""
        urls = [f"https://{HOSTS[n % len(HOSTS)]}/{n}" for n in range(count)]
        added = await self.frontier.add([Request(job, url) for url in urls])
        assert added.new == count
        await self.frontier.jobs.release_hold(job)

    async def balanced(self, job: str) -> None:
        """All that was accepted has ended, and the keys bear the counters out."""
        stats = await self.frontier.stats.job(job)
        assert (stats.queued, stats.leased, stats.delayed) == (0, 0, 0), stats
        assert stats.accepted == stats.settled, stats
        assert await recount(self.frontier) == []


@pytest.fixture(autouse=True)
def swept(valkey_server: ServerProcess, namespace: str) -> Iterator[None]:
    """The server is shared, and other tests count what they find there."""
    yield
    keys = [key for key in list_keys(valkey_server.url) if namespace.encode() in key]
    delete_keys(valkey_server.url, keys)


@asynccontextmanager
async def racing(
    server: ServerProcess, namespace: str, *, shards: int | None = None, **config: Any
) -> AsyncIterator[Race]:
    async with await Frontier.connect(
        server.url,
        worker="judge",
        namespace=namespace,
        shards=shards,
        config=Config(**({"delay_ms": 0} | config)),
    ) as frontier:
        race = Race(frontier, server.url, namespace)
        if shards:
            race.task["shards"] = shards
        yield race


async def test_every_request_is_done_once(valkey_server: ServerProcess, namespace: str) -> None:
    async with racing(valkey_server, namespace) as field:
        await field.submit(Job(id="j", spider="s", robots=False))
        await field.seed("j", 1000)
        results = await race(PROCESSES, field.task | {"depth": 1})
        done = Counter(url for result in results for url in result["done"])
        assert len(done) == 3 * 1000 + len(HOSTS)
        assert set(done.values()) == {1}
        assert sum(result["refused"] for result in results) == 0
        stats = await field.frontier.stats.job("j")
        assert (stats.done, stats.pages, stats.figures["seen"]) == (3200, 3200, 3200)
        assert (await field.frontier.jobs.record("j")).outcome == "finished"
        await field.balanced("j")


@pytest.mark.parametrize("shards", [1, 4])
async def test_page_quota_is_exact(
    valkey_server: ServerProcess, namespace: str, shards: int
) -> None:
    async with racing(valkey_server, namespace, shards=shards) as field:
        await field.submit(Job(id="j", spider="s", robots=False, max_pages=500))
        await field.seed("j", 900)
        results = await race(PROCESSES, field.task | {"depth": 1})
        assert sum(len(result["done"]) for result in results) == 500
        assert (await field.frontier.stats.job("j")).pages == 500
        assert (await field.frontier.jobs.record("j")).outcome == "limit reached"


async def test_delayed_hosts_are_asked_by_one_and_not_too_soon(
    valkey_server: ServerProcess, namespace: str
) -> None:
    delay_ms = 60
    async with racing(valkey_server, namespace, delay_ms=delay_ms, turn_ms=150) as field:
        await field.submit(Job(id="j", spider="s", robots=False))
        hosts = HOSTS[:6]
        await field.frontier.add(
            [Request("j", f"https://{host}/{n}") for n in range(40) for host in hosts]
        )
        await field.frontier.jobs.release_hold("j")
        results = await race(PROCESSES, field.task | {"record": True, "fetch_ms": 5})
        asked: dict[str, list[tuple[float, float]]] = defaultdict(list)
        for result in results:
            for host, start, end in result["asked"]:
                asked[host].append((start, end))
        assert {host: len(times) for host, times in asked.items()} == dict.fromkeys(hosts, 40)
        gaps_ms = [
            1000 * (later[0] - earlier[1])
            for times in asked.values()
            for earlier, later in zip(sorted(times), sorted(times)[1:], strict=False)
        ]
        assert min(gaps_ms) >= delay_ms, sorted(gaps_ms)[:10]
        assert sum(bool(result["asked"]) for result in results) > 1


async def test_no_job_is_ended_while_a_child_is_on_its_way(
    valkey_server: ServerProcess, namespace: str
) -> None:
    """A chain through hosts of all shards: one request is left at any time, and it has a child."""
    async with racing(valkey_server, namespace, shards=4) as field:
        await field.submit(*(Job(id=f"j{n}", spider="s", robots=False) for n in range(3)))
        for job in field.task["jobs"]:
            await field.frontier.add([Request(job, "https://c0.example0.com/0")])
            await field.frontier.jobs.release_hold(job)
        await race(PROCESSES, field.task | {"chain": 80, "completes": True})
        for job in field.task["jobs"]:
            assert (await field.frontier.stats.job(job)).done == 80
            assert (await field.frontier.jobs.record(job)).outcome == "finished"
            await field.balanced(job)


async def test_same_urls_from_many_are_accepted_once(
    valkey_server: ServerProcess, namespace: str
) -> None:
    async with racing(valkey_server, namespace) as field:
        await field.submit(Job(id="j", spider="s", robots=False))
        results = await race(PROCESSES, field.task | {"verb": "add", "urls": 2000})
        assert sum(result["new"] for result in results) == 2000
        stats = await field.frontier.stats.job("j")
        assert (stats.accepted, stats.queued) == (2000, 2000)
        assert await recount(field.frontier) == []


async def test_pausing_under_load_loses_nothing(
    valkey_server: ServerProcess, namespace: str
) -> None:
    async with racing(valkey_server, namespace) as field:
        await field.submit(Job(id="j", spider="s", robots=False))
        await field.seed("j", 500)
        jobs, stats = field.frontier.jobs, field.frontier.stats

        async def pause_and_resume() -> None:
            for mark in (100, 300, 700):
                await wait_until_async(partial(_done_reaches, mark), timeout_s=100)
                await jobs.pause("j")
                await wait_until_async(_nothing_leased, timeout_s=100)
                assert (await stats.job("j")).queued > 0
                await jobs.resume("j")

        async def _done_reaches(mark: int) -> bool:
            return (await stats.job("j")).done >= mark

        async def _nothing_leased() -> bool:
            return (await stats.job("j")).leased == 0

        results = await race(
            PROCESSES, field.task | {"depth": 1, "fetch_ms": 2}, meanwhile=pause_and_resume()
        )
        done = Counter(url for result in results for url in result["done"])
        assert (len(done), set(done.values())) == (3 * 500 + len(HOSTS), {1})
        await field.balanced("j")


async def test_stopping_under_load_leaves_the_counters_balanced(
    valkey_server: ServerProcess, namespace: str
) -> None:
    async with racing(valkey_server, namespace) as field:
        await field.submit(*(Job(id=f"j{n}", spider="s", robots=False) for n in range(2)))
        await field.seed("j0", 500)
        await field.seed("j1", 200)
        stats = field.frontier.stats

        async def stop() -> None:
            await wait_until_async(_some_done, timeout_s=100)
            record = await field.frontier.jobs.stop("j0")
            assert (record.state, record.outcome) == ("ended", "cancelled")

        async def _some_done() -> bool:
            return (await stats.job("j0")).done >= 100

        async def _swept() -> bool:
            found = await stats.job("j0")
            return found.queued + found.leased + found.delayed == 0

        results = await race(PROCESSES, field.task | {"depth": 1, "fetch_ms": 2}, meanwhile=stop())
        await wait_until_async(_swept)
        found = await stats.job("j0")
        done = Counter(url for result in results for url in result["done"])
        assert set(done.values()) == {1}
        assert found.done == sum(url.startswith("j0 ") for url in done)
        assert found.discarded == found.accepted - found.done > 0
        assert (await stats.job("j1")).done == 3 * 200 + len(HOSTS)
        await field.balanced("j0")
        await field.balanced("j1")
