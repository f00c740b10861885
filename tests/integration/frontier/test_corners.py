"""Corners of the frontier where something once went wrong, each by its shortest way."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from skitter.frontier import (
    Caretaker,
    Config,
    Fetch,
    Frontier,
    HostPolicy,
    Job,
    Lease,
    Request,
    Settlement,
)
from tests.recount import recount
from tests.servers import delete_keys, list_keys

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from tests.servers import ServerProcess

HOST = "a.example.com"


class Clock:
    now_ms = 1_000_000

    def __call__(self) -> float:
        return self.now_ms


@pytest.fixture(autouse=True)
def swept(valkey_server: ServerProcess, namespace: str) -> Iterator[None]:
    """The server is shared, and other tests count what they find there."""
    yield
    keys = [key for key in list_keys(valkey_server.url) if namespace.encode() in key]
    delete_keys(valkey_server.url, keys)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def frontier(
    valkey_server: ServerProcess, namespace: str, clock: Clock
) -> AsyncIterator[Frontier]:
    async with await Frontier.connect(
        valkey_server.url,
        worker="w",
        namespace=namespace,
        config=Config(delay_ms=0, concurrency=3, lease_ms=10_000, max_crashes=9),
        clock=clock,
    ) as found:
        yield found
        assert await recount(found) == []


async def add(frontier: Frontier, job: str, *names: object, priority: int = 0) -> None:
    urls = [f"https://{HOST}/{job}/{name}" for name in names]
    await frontier.add([Request(job, url, priority=priority) for url in urls])


async def lease(frontier: Frontier, *jobs: Job, count: int = 10) -> list[Lease]:
    return (await frontier.lease(sorted({job.lane for job in jobs}), count=count)).leases


async def settle(frontier: Frontier, leases: list[Lease], **fields: object) -> None:
    settlements = [Settlement(x, fetch=Fetch(status=200), **fields) for x in leases]  # type: ignore[arg-type]
    assert await frontier.settle(settlements) == [True] * len(leases)


async def test_a_drained_queue_in_front_does_not_hide_that_robots_is_unknown(
    frontier: Frontier, clock: Clock
) -> None:
    """Of a job that honours robots.txt one request at a time is out until that is known."""
    bold = Job(id="bold", spider="s", robots=False, priority=2)
    polite = Job(id="polite", spider="s", priority=1)
    await frontier.jobs.submit(bold)
    await frontier.jobs.submit(polite)
    await add(frontier, "bold", 1, 2, 3)
    await add(frontier, "polite", 1, 2, 3)
    first = await lease(frontier, bold, count=3)
    assert {x.request.job for x in first} == {"bold"}
    await settle(frontier, first)
    clock.now_ms += 2
    assert len(await lease(frontier, bold)) == 1


async def test_page_quota_that_comes_back_is_used(frontier: Frontier, clock: Clock) -> None:
    job = Job(id="j", spider="s", robots=False, max_pages=2)
    await frontier.jobs.submit(job)
    await add(frontier, "j", 1, 2, 3, 4)
    caretaker = Caretaker(frontier)
    pages = 0
    for round_ in range(20):
        for held in await lease(frontier, job):
            page = round_ > 4
            await settle(frontier, [held], outcome="done" if page else "bury", page=page)
            pages += page
        clock.now_ms += 10
        await caretaker.tend()
    stats = await frontier.stats.job("j")
    assert stats.queued == 0
    assert stats.buried + stats.done + stats.discarded == 4
    assert (await frontier.jobs.record("j")).state == "running"  # it is held open


async def test_a_dead_letter_replayed_while_its_job_is_closing_is_not_thrown_away(
    frontier: Frontier,
) -> None:
    job = Job(id="j", spider="s", robots=False)
    record = await frontier.jobs.submit(job)
    await add(frontier, "j", 1)
    await settle(frontier, await lease(frontier, job), outcome="bury", reason="http 500")
    await frontier.jobs.release_hold("j")
    letters = await frontier.dead.find()
    # A completer has found the job complete, and is about to say so at its home.
    assert int(await frontier.shards.run(0, "job_close", record.no, 1)) == 1
    replaying = asyncio.create_task(frontier.dead.replay(letters))
    await asyncio.wait([replaying], timeout=0.2)
    assert not replaying.done()
    seen = await frontier.jobs.record("j")
    assert await frontier.jobs.end(seen, outcome="finished")
    assert await asyncio.wait_for(replaying, 30) == [False]
    assert (await frontier.stats.job("j")).discarded == 0
    assert len(await frontier.dead.find()) == 1


async def test_a_job_that_is_held_takes_requests_though_a_completer_died_closing_it(
    frontier: Frontier,
) -> None:
    job = Job(id="j", spider="s", robots=False)
    record = await frontier.jobs.submit(job)
    await add(frontier, "j", 1)
    await settle(frontier, await lease(frontier, job))
    assert int(await frontier.shards.run(0, "job_close", record.no, 1)) == 1
    adding = asyncio.create_task(add(frontier, "j", 2))
    await asyncio.wait([adding], timeout=0.1)
    await Caretaker(frontier).tend()
    await asyncio.wait_for(adding, 30)
    assert (await frontier.stats.job("j")).queued == 1


async def test_priorities_stay_in_order_when_their_job_is_reprioritised(
    frontier: Frontier, clock: Clock
) -> None:
    job = Job(id="j", spider="s", robots=False)
    await frontier.jobs.submit(job)
    await frontier.hosts.set_policy(HOST, HostPolicy(concurrency=1))
    await add(frontier, "j", "low")
    await add(frontier, "j", "high", "higher", priority=1)
    await frontier.jobs.reprioritise("j", 5)
    await Caretaker(frontier).tend()
    await add(frontier, "j", "highest", priority=2)
    order = []
    for _ in range(4):
        clock.now_ms += 2
        held = await lease(frontier, job)
        order += [x.request.url.rpartition("/")[2] for x in held]
        await settle(frontier, held)
    assert order == ["highest", "high", "higher", "low"]


async def test_a_larger_budget_holds_at_once(frontier: Frontier, clock: Clock) -> None:
    job = Job(id="j", spider="s", robots=False)
    await frontier.jobs.submit(job)
    await frontier.hosts.set_policy(HOST, HostPolicy(budget=1, budget_ms=3_600_000))
    await add(frontier, "j", 1, 2, 3)
    for _ in range(3):
        await settle(frontier, await lease(frontier, job))
        clock.now_ms += 2
    assert (await frontier.stats.job("j")).done == 1
    await frontier.hosts.set_policy(HOST, HostPolicy(budget=2))
    await settle(frontier, await lease(frontier, job))
    assert (await frontier.stats.job("j")).done == 2


async def test_a_host_that_only_permits_asked_is_forgotten_in_time(frontier: Frontier) -> None:
    permit = await frontier.permit("media.example.com")
    await frontier.fetched([(permit, Fetch(status=200))])
    key = f"{frontier.shards.prefixes[0]}h:media.example.com"
    assert int(await frontier.shards.command("PTTL", key)) > 0


async def test_a_request_that_killed_workers_is_not_starved_by_others(
    frontier: Frontier, clock: Clock
) -> None:
    """It is leased alone, so there must be a call that has nothing beside it."""
    suspect = Job(id="suspect", spider="s", robots=False)
    busy = Job(id="busy", spider="t", robots=False, priority=1)
    await frontier.jobs.submit(suspect)
    await frontier.jobs.submit(busy)
    await add(frontier, "suspect", 1)
    for _ in range(2):
        assert len(await lease(frontier, suspect)) == 1
        await frontier.reap("w")
        clock.now_ms += 2
    urls = [f"https://b{n % 50}.example.com/{n}" for n in range(3000)]
    await frontier.add([Request("busy", url) for url in urls])
    for _ in range(60):
        held = await lease(frontier, suspect, busy, count=20)
        if any(x.alone for x in held):
            assert len(held) == 1
            return
        await settle(frontier, held)
        clock.now_ms += 2
    raise AssertionError("it was never leased")


async def test_letters_named_twice_are_replayed_once(frontier: Frontier) -> None:
    job = Job(id="j", spider="s", robots=False)
    await frontier.jobs.submit(job)
    await add(frontier, "j", 1)
    await settle(frontier, await lease(frontier, job), outcome="bury", reason="http 500")
    letters = await frontier.dead.find()
    assert await frontier.dead.replay([*letters, *letters]) == [True, True]
    stats = await frontier.stats.job("j")
    assert (stats.accepted, stats.queued) == (2, 1)


async def test_the_most_polite_of_several_jobs_sets_the_pace(frontier: Frontier) -> None:
    fast = Job(id="fast", spider="s", robots=False, delay_s=0.2)
    slow = Job(id="slow", spider="s", robots=False, delay_s=2)
    await frontier.jobs.submit(fast)
    await frontier.jobs.submit(slow)
    await add(frontier, "fast", 1, 2)
    await add(frontier, "slow", 1)
    await add(frontier, "fast", 3)
    assert {held.delay_ms for held in await lease(frontier, fast)} == {2000}


async def test_a_turn_denied_to_a_permit_is_kept_for_it(frontier: Frontier, clock: Clock) -> None:
    job = Job(id="j", spider="s", robots=False, delay_s=1)
    await frontier.jobs.submit(job)
    await add(frontier, "j", 1, 2)
    await settle(frontier, await lease(frontier, job, count=1))
    denied = await frontier.permit(HOST)
    assert denied.wait_ms == 1000
    clock.now_ms += denied.wait_ms
    assert await lease(frontier, job) == []
    assert (await frontier.permit(HOST)).granted
