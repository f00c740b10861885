"""A primary dies in the middle of a crawl: what its replica had is not lost.

Requests count as settled only after their children are on a replica (`wait_replicas=1`), so a
failover can forget a lease or a settlement, and a page may be asked for twice, but every URL of
the tree is done in the end.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from skitter.frontier import Caretaker, Config, Fetch, Frontier, Job, Request, Settlement
from tests.wait import wait_until_async

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.servers import ClusterProcess

URLS = 400
HOSTS = 40
CONFIG = Config(lease_ms=2000, delay_ms=0)
JOB = Job(id="tree", spider="tree", robots=False)


def url_of(number: int) -> str:
    return f"https://site{number % HOSTS}.example/{number}"


def children_of(url: str) -> list[Request]:
    number = int(url.rpartition("/")[2])
    return [Request("tree", url_of(n)) for n in (2 * number + 1, 2 * number + 2) if n < URLS]


async def work(frontier: Frontier, done: list[str]) -> None:
    while True:
        leased = await frontier.lease([JOB.lane], count=5)
        settlements = [
            Settlement(
                lease, fetch=Fetch(status=200), page=True, children=children_of(lease.request.url)
            )
            for lease in leased.leases
        ]
        answers = await frontier.settle(settlements) if settlements else []
        done += [s.lease.request.url for s, ok in zip(settlements, answers, strict=True) if ok]
        await asyncio.sleep(min(leased.retry_ms, 50) / 1000)


async def connect(cluster: ClusterProcess, namespace: str, name: str) -> Frontier:
    return await Frontier.connect(
        cluster.url, worker=name, namespace=namespace, config=CONFIG, patience_s=60, wait_replicas=1
    )


async def crawl_through(cluster: ClusterProcess, frontiers: Sequence[Frontier]) -> list[str]:
    first = frontiers[0]
    done: list[str] = []
    tasks = [asyncio.create_task(work(frontier, done)) for frontier in frontiers]
    tasks.append(asyncio.create_task(Caretaker(first).run()))
    try:
        await wait_until_async(lambda: len(done) > URLS // 4, timeout_s=60)
        await fail_over(cluster, first.shards.prefixes[3])

        async def ended() -> bool:
            for task in tasks:
                if task.done():
                    task.result()
            return (await first.jobs.record("tree")).state == "ended"

        await wait_until_async(ended, timeout_s=90)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    return done


async def fail_over(cluster: ClusterProcess, key: str) -> None:
    """The old primary dies, its replica takes over, and the old one comes back as a replica.

    Until it does, no replica can have anything, and settlements wait.
    """
    old = cluster.primary_of(key)
    old.kill()
    await wait_until_async(lambda: cluster.primary_of(key) is not old, timeout_s=30)
    old.restart()


async def test_a_failover_in_the_middle_of_a_crawl_loses_nothing(
    replicated_cluster: ClusterProcess, namespace: str
) -> None:
    frontiers = [await connect(replicated_cluster, namespace, f"w{n}") for n in range(3)]
    try:
        await frontiers[0].jobs.submit(JOB)
        await frontiers[0].add([Request("tree", url_of(0))])
        await frontiers[0].jobs.release_hold("tree")
        done = await crawl_through(replicated_cluster, frontiers)
        stats = await frontiers[0].stats.job("tree")
        assert set(done) == {url_of(n) for n in range(URLS)}
        assert (stats.done, stats.pending, stats.buried) == (URLS, 0, 0)
    finally:
        for frontier in frontiers:
            await frontier.close()
