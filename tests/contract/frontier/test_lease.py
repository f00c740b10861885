"""Leasing: who gets what, in which order, and what an empty answer says."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING

from skitter.frontier import Config, Job, Request
from tests.contract.frontier.crawl import hosts, pages

if TYPE_CHECKING:
    from tests.contract.frontier.crawl import Crawl


async def test_a_lease_says_all_that_a_fetch_needs(polite: Crawl) -> None:
    lease = await polite.one("https://a.com/1")
    assert lease.request.url == "https://a.com/1"
    assert (lease.host, lease.egress, lease.delay_ms) == ("a.com", "direct", 1000)
    assert not lease.alone
    assert polite.frontier.fresh(lease)


async def test_within_a_host_priority_comes_first_then_first_in_first_out(crawl: Crawl) -> None:
    await crawl.job()
    requests = [
        Request("j", f"https://a.com/{priority}/{n}", priority=priority)
        for n in range(2)
        for priority in (0, -5, 10, 3)
    ]
    await crawl.frontier.add(requests)
    found: list[str] = []
    for _ in range(8):
        [lease] = await crawl.lease(1)
        found.append(lease.request.url.removeprefix("https://a.com/"))
    await crawl.counts_are_right()
    by_priority = sorted(found, key=lambda text: -int(text.partition("/")[0]))
    assert Counter(found) == Counter(by_priority)
    above_zero = [text for text in found if int(text.partition("/")[0]) > 0]
    assert above_zero == ["10/0", "10/1", "3/0", "3/1"]
    assert [text for text in found if text.startswith("0/")] == ["0/0", "0/1"]


async def test_no_request_is_leased_twice(crawl: Crawl) -> None:
    await crawl.job()
    urls = [url for host in hosts(20) for url in pages(host, 10)]
    await crawl.add(*urls)
    workers = [crawl, *[await crawl.worker(f"w{n}") for n in range(2, 6)]]
    taken: list[str] = []
    for _ in range(10):
        rounds = await asyncio.gather(*(worker.lease_urls(13) for worker in workers))
        taken += [url for part in rounds for url in part]
    # Eight at a time for each host is the default; the others wait for a turn.
    assert len(taken) == len(set(taken)) == 160


async def test_a_count_is_never_passed(crawl: Crawl) -> None:
    await crawl.job()
    await crawl.add(*(url for host in hosts(10) for url in pages(host, 5)))
    for count in (1, 7, 20):
        assert len(await crawl.lease(count)) == count


async def test_lanes_keep_spiders_apart(crawl: Crawl) -> None:
    shop = await crawl.job("shop", spider="shop")
    news = await crawl.job("news", spider="news", args={"lang": "en"})
    await crawl.add("https://a.com/shop", job="shop")
    await crawl.add("https://a.com/news", job="news")
    assert await crawl.lease_urls(jobs=[shop]) == ["https://a.com/shop"]
    assert await crawl.lease_urls(jobs=[shop]) == []
    assert await crawl.lease_urls(jobs=[shop, news]) == ["https://a.com/news"]


async def test_jobs_with_one_spider_and_arguments_share_a_lane(crawl: Crawl) -> None:
    one = await crawl.job("one", args={"b": "2", "a": "1"})
    two = await crawl.job("two", args={"a": "1", "b": "2"})
    assert one.lane == two.lane
    await crawl.add("https://a.com/1", job="one")
    await crawl.add("https://a.com/2", job="two")
    leases = await crawl.lease(jobs=[one])
    assert {lease.request.job for lease in leases} == {"one", "two"}


async def test_no_job_starves_another_at_a_host(crawl: Crawl) -> None:
    await crawl.job("big")
    await crawl.job("small")
    await crawl.add(*pages("a.com", 100), job="big")
    await crawl.add(*pages("a.com", 3), job="small")
    first = []
    for _ in range(6):
        [lease] = await crawl.lease(1)
        first.append(lease.request.job)
        await crawl.settle(lease)
    assert Counter(first) == {"big": 3, "small": 3}


async def test_bands_are_weighted_so_that_none_starves(crawl: Crawl) -> None:
    for name, priority in (("urgent", 10), ("normal", 0), ("idle", -10)):
        await crawl.job(name, priority=priority)
        await crawl.add(*(f"https://www.{name}{n}.com/" for n in range(80)), job=name)
    served: Counter[str] = Counter()
    for _ in range(52):
        leases = await crawl.lease(1)
        served.update(lease.request.job for lease in leases)
        await crawl.settle(*leases)
    if crawl.frontier.shards.count == 1:
        assert served["urgent"] > served["normal"] > served["idle"] > 0
    assert sum(served.values()) == 52


async def test_an_empty_answer_says_when_to_ask_again(polite: Crawl) -> None:
    lane = (await polite.job()).lane
    await polite.add("https://a.com/1", "https://a.com/2")
    empty = await polite.frontier.lease(["nothing0"], count=5)
    assert empty.leases == []
    assert 0 < empty.retry_ms <= 1000
    leases = await polite.lease(1)
    await polite.settle(*leases)
    polite.frontier._ask_after.clear()
    polite.clock.step(400)
    empty = await polite.frontier.lease([lane], count=5)
    assert empty.leases == []
    assert empty.retry_ms == 600
    polite.clock.step(600)
    assert await polite.lease_urls() == ["https://a.com/2"]


async def test_an_empty_answer_spends_nobodys_turn(polite: Crawl) -> None:
    await polite.job()
    await polite.add("https://a.com/1")
    for _ in range(5):
        assert await polite.lease(jobs=[Job(id="x", spider="other")]) == []
    assert await polite.lease_urls() == ["https://a.com/1"]


async def test_only_the_shards_asked_for_are_leased_from(crawl: Crawl) -> None:
    job = await crawl.job()
    await crawl.add(*(f"https://{host}/" for host in hosts(30)))
    count = crawl.frontier.shards.count
    chosen = [0] if count == 1 else [1, 2]
    leased = await crawl.frontier.lease([job.lane], count=100, shards=chosen)
    assert leased.leases
    assert {lease.shard for lease in leased.leases} <= set(chosen)
    assert len(leased.leases) + len(await crawl.lease()) == 30


async def test_a_second_client_finds_the_settings_of_the_first(crawl: Crawl) -> None:
    other = await crawl.worker("w2")
    assert other.frontier.shards.config == Config(delay_ms=0)
