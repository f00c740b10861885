"""Where a job's requests wait: by host, with priorities, on every server and in every state."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skitter.frontier import Request
from skitter.frontier.queues import PAGE, Waiting, waiting_by_host

if TYPE_CHECKING:
    from tests.contract.frontier.crawl import Crawl


async def submit(crawl: Crawl, name: str, urls: dict[str, int]) -> None:
    await crawl.job(name, priority=3)
    requests = [Request(name, url, priority=number) for url, number in urls.items()]
    assert (await crawl.frontier.add(requests)).new == len(urls)


async def test_requests_are_counted_by_host_with_their_priorities(crawl: Crawl) -> None:
    urls = {
        "https://a.example/1": 0,
        "https://a.example/2": 7,
        "https://a.example/3": -4,
        "https://b.test/": 1,
    }
    await submit(crawl, "books", urls)
    await submit(crawl, "others", {"https://a.example/9": 99})
    assert await waiting_by_host(crawl.frontier, "books") == {
        "a.example": Waiting("a.example", 3, 7, -4),
        "b.test": Waiting("b.test", 1, 1, 1),
    }


async def test_those_of_a_paused_job_are_counted_too(crawl: Crawl) -> None:
    await submit(crawl, "books", {"https://a.example/1": 0, "https://a.example/2": 5})
    await crawl.frontier.jobs.pause("books")
    assert not await crawl.lease()  # which parks them
    assert await waiting_by_host(crawl.frontier, "books") == {
        "a.example": Waiting("a.example", 2, 5, 0)
    }


async def test_more_hosts_than_one_look_takes(crawl: Crawl) -> None:
    hosts = PAGE + 50
    await submit(crawl, "books", {f"https://h{n}.example/": 0 for n in range(hosts)})
    found = await waiting_by_host(crawl.frontier, "books")
    assert len(found) == hosts
    assert sum(waiting.total for waiting in found.values()) == hosts
