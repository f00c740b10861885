"""Egresses: failures and cool-downs that all workers see, trials, and bars at a host."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skitter.frontier.egresses import CooldownRules, Standing, Strike
from tests.contract.frontier.crawl import pages

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tests.contract.frontier.crawl import Crawl

RULES = CooldownRules(fails=3, cooldown_ms=60_000, most_ms=200_000)
DAY_MS = 86_400_000


async def strike(crawl: Crawl, *strikes: Strike) -> list[Standing]:
    return await crawl.frontier.egresses.strike(strikes, rules=RULES)


async def test_failures_in_a_row_lead_to_a_cool_down(crawl: Crawl) -> None:
    [first, second] = await strike(crawl, Strike("p1"), Strike("p1"))
    assert (first.fails, second.fails, second.left_ms) == (1, 2, 0)
    assert await strike(crawl, Strike("p1")) == [Standing("p1", "", 0, 1, 60_000)]
    crawl.clock.step(10_000)
    late = await strike(crawl, Strike("p1"), Strike("p1", fine=True))
    assert late == [Standing("p1", "", 0, 1, 50_000)] * 2


async def test_a_success_ends_the_row(crawl: Crawl) -> None:
    await strike(crawl, Strike("p1"), Strike("p1"))
    assert await strike(crawl, Strike("p1", fine=True)) == [Standing("p1", "", 0, 0, 0)]
    [standing] = await strike(crawl, Strike("p1"))
    assert standing.fails == 1


async def test_each_cool_down_in_a_row_is_twice_as_long_up_to_the_longest(crawl: Crawl) -> None:
    await strike(crawl, *[Strike("p1")] * 3)
    lengths = []
    for _ in range(3):
        crawl.clock.step(DAY_MS // 48)
        [standing] = await strike(crawl, Strike("p1"))
        lengths.append(standing.left_ms)
    assert lengths == [120_000, 200_000, 200_000]
    crawl.clock.step(200_000)
    assert await strike(crawl, Strike("p1", fine=True)) == [Standing("p1", "", 0, 0, 0)]
    [standing] = (await strike(crawl, *[Strike("p1")] * 3))[-1:]
    assert standing.left_ms == 60_000


async def test_a_ban_at_one_host_is_not_one_at_another(crawl: Crawl) -> None:
    await strike(crawl, *[Strike("p1", "a.com")] * 3, Strike("p1", "b.com"))
    _, found = await crawl.frontier.egresses.news(0)
    assert {(s.egress, s.host): (s.fails, s.left_ms) for s in found} == {
        ("p1", "a.com"): (0, 60_000),
        ("p1", "b.com"): (1, 0),
    }


async def test_news_tells_what_changed_and_nothing_else(crawl: Crawl) -> None:
    other = await crawl.worker("w2")
    version, found = await other.frontier.egresses.news(0)
    assert found == []
    await strike(crawl, *[Strike("p1")] * 3, Strike("p2"))
    version, found = await other.frontier.egresses.news(version)
    assert [s.egress for s in found] == ["p1", "p2"]
    assert await other.frontier.egresses.news(version) == (version, [])
    await strike(crawl, Strike("p2", fine=True))
    version, found = await other.frontier.egresses.news(version)
    assert found == [Standing("p2", "", 0, 0, 0)]
    _, all_again = await other.frontier.egresses.news(version + 1000)
    assert len(all_again) == 2


async def test_news_of_very_many_come_whole(crawl: Crawl) -> None:
    names = [f"p{n}" for n in range(1005)]
    await strike(crawl, *(Strike(name) for name in names))
    _, found = await crawl.frontier.egresses.news(0)
    assert [s.egress for s in found] == names


async def test_what_is_old_is_forgotten(crawl: Crawl) -> None:
    await strike(crawl, *(Strike(f"p{n}") for n in range(50)))
    crawl.clock.step(DAY_MS)
    await strike(crawl, Strike("new"))
    _, found = await crawl.frontier.egresses.news(0)
    assert [s.egress for s in found] == ["new"]


async def test_one_worker_at_a_time_may_try_again(crawl: Crawl) -> None:
    one, two = crawl.frontier.egresses, (await crawl.worker("w2")).frontier.egresses
    await strike(crawl, *[Strike("p1")] * 3)
    assert await one.try_again(["p1"], trial_ms=2000) == []
    crawl.clock.step(60_000)
    assert await one.try_again(["p1"], trial_ms=2000) == ["p1"]
    assert await two.try_again(["p1"], trial_ms=2000) == []
    assert await one.try_again(["p1"], trial_ms=2000) == ["p1"]
    crawl.clock.step(2000)
    assert await two.try_again(["p1"], trial_ms=2000) == ["p1"]
    assert await one.try_again(["p1"], trial_ms=2000) == []


async def test_no_lease_comes_for_a_barred_pair(crawl: Crawl) -> None:
    await crawl.job()
    await crawl.add(*pages("a.com", 3), *pages("b.com", 3))
    assert await crawl.frontier.hosts.bar("a.com", "p1", 5000) == 5000
    leases = await crawl.lease(egresses=["p1", "p2"])
    assert {lease.egress for lease in leases if lease.host == "a.com"} == {"p2"}
    await crawl.frontier.release(leases)
    leases = await crawl.lease(egresses=["p1"])
    assert {lease.host for lease in leases} == {"b.com"}
    await crawl.settle(*leases)
    crawl.clock.step(4990)
    assert await crawl.lease(egresses=["p1"]) == []
    crawl.clock.step(10)
    assert {lease.egress for lease in await crawl.lease(egresses=["p1"])} == {"p1"}


async def test_an_egress_that_comes_back_does_not_wait_for_the_bar_of_another(
    crawl: Crawl,
) -> None:
    await crawl.job()
    await crawl.add("https://a.com/")
    await crawl.frontier.hosts.bar("a.com", "p1", 1_800_000)
    assert await crawl.lease(egresses=["p1"]) == []
    crawl.clock.step(60_000)
    [lease] = await crawl.lease(egresses=["p2"])
    assert lease.egress == "p2"


async def test_a_bar_is_never_shortened_and_never_longer_than_a_clock_is_believed(
    open_crawl: Callable[..., Awaitable[Crawl]],
) -> None:
    crawl = await open_crawl(max_delay_ms=1000, max_retry_after_ms=10_000)
    hosts = crawl.frontier.hosts
    assert await hosts.bar("a.com", "p1", 3000) == 3000
    assert await hosts.bar("a.com", "p1", 10) == 3000
    assert await hosts.bar("a.com", "p1", 99_000) == 10_000
    crawl.clock.step(10_000)
    assert await hosts.bar("a.com", "p1", 0) == 0


async def test_a_bar_outlives_the_fetches_that_were_out(crawl: Crawl) -> None:
    await crawl.job()
    await crawl.add(*pages("a.com", 2))
    [lease] = await crawl.lease(1, egresses=["p1"])
    await crawl.frontier.hosts.bar("a.com", "p1", 5000)
    await crawl.settle(lease, status=403)
    assert await crawl.lease(egresses=["p1"]) == []


async def test_hosts_do_not_wait_for_a_retired_egress(polite: Crawl) -> None:
    await polite.job()
    await polite.add(*pages("a.com", 12))
    await polite.lease(1, egresses=["p1", "p2"])
    await polite.frontier.egresses.retire(["p1", "p2"])
    for shard in range(polite.frontier.shards.count):
        key = f"{polite.frontier.shards.prefixes[shard]}e"
        assert await polite.raw("ZCARD", key) == 0


async def test_with_no_egress_there_is_no_lease(crawl: Crawl) -> None:
    await crawl.job()
    await crawl.add("https://a.com/")
    leased = await crawl.frontier.lease(["any"], count=1, egresses=[])
    assert leased.leases == []
    assert leased.retry_ms > 0
