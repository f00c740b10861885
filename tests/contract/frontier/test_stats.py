"""Figures: counters that recounting bears out, peek, and host rankings by index."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skitter.frontier import Fetch, Settlement
from tests.contract.frontier.crawl import hosts, pages
from tests.recount import recount

if TYPE_CHECKING:
    from tests.contract.frontier.crawl import Crawl


async def test_the_counters_of_a_job_add_up(crawl: Crawl) -> None:
    await crawl.job()
    await crawl.add(*(url for host in hosts(6) for url in pages(host, 10)))
    done, retried, buried, *held = await crawl.lease(12)
    await crawl.settle(done, page=True)
    await crawl.settle(retried, outcome="retry", reason="later", retry_ms=9999)
    await crawl.settle(buried, outcome="bury", reason="http 410")
    stats = await crawl.frontier.stats.job("j")
    assert stats.accepted == 60
    assert (stats.done, stats.delayed, stats.buried, stats.leased) == (1, 1, 1, len(held))
    assert stats.accepted == stats.queued + stats.leased + stats.delayed + stats.settled


async def test_the_totals_of_the_frontier(crawl: Crawl) -> None:
    for name in ("one", "two"):
        await crawl.job(name)
        await crawl.add(*(f"https://{host}/{name}" for host in hosts(5)), job=name)
    other = await crawl.worker("w2")
    mine, theirs = await crawl.lease(4), await other.lease(3)
    await crawl.settle(mine[0], outcome="bury", reason="x")
    await crawl.settle(mine[1], outcome="retry", reason="x", retry_ms=9999)
    stats = await crawl.frontier.stats.frontier()
    assert len(theirs) == 3
    assert (stats.live_jobs, stats.leased, stats.workers) == (2, 5, 2)
    assert (stats.delayed, stats.dead_letters) == (1, 1)


async def test_peek_shows_what_is_next_and_takes_nothing(crawl: Crawl) -> None:
    await crawl.job()
    await crawl.add(*pages("a.com", 5))
    await crawl.add("https://a.com/first", priority=5)
    peeked = await crawl.frontier.stats.peek("j", limit=3)
    assert [request.url for request in peeked] == [
        "https://a.com/first", "https://a.com/0", "https://a.com/1",
    ]  # fmt: skip
    assert len(await crawl.frontier.stats.peek("j")) == 6
    assert len(await crawl.lease()) == 6
    assert await crawl.frontier.stats.peek("j") == []


async def test_peek_over_many_hosts_keeps_its_limit(crawl: Crawl) -> None:
    await crawl.job()
    await crawl.add(*(url for host in hosts(40) for url in pages(host, 3)))
    peeked = await crawl.frontier.stats.peek("j", limit=25)
    assert len({request.url for request in peeked}) == 25


async def test_hosts_are_ranked_by_what_they_have_queued(crawl: Crawl) -> None:
    await crawl.job()
    sizes = {"a.com": 100, "b.org": 40, "c.net": 10, "d.info": 2, "e.io": 1}
    for host, size in sizes.items():
        await crawl.add(*pages(host, size))
    ranking = await crawl.frontier.hosts.ranking(limit=3)
    assert [(state.host, state.queued) for state in ranking] == [
        ("a.com", 100), ("b.org", 40), ("c.net", 10),
    ]  # fmt: skip


async def test_hosts_are_ranked_by_what_they_answered(crawl: Crawl) -> None:
    await crawl.job()
    for host, status in (("good.com", 200), ("bad.com", 500)):
        await crawl.add(*pages(host, 8))
        for lease in await crawl.lease():
            fetch = Fetch(latency_ms=120, status=status)
            await crawl.frontier.settle([Settlement(lease, fetch=fetch)])
    fetched = await crawl.frontier.hosts.ranking("fetched")
    assert {(state.host, state.fetched) for state in fetched} == {("good.com", 8), ("bad.com", 8)}
    failed = await crawl.frontier.hosts.ranking("failed")
    assert [(state.host, state.failed) for state in failed] == [("bad.com", 8)]
    assert failed[0].latency_ms == 120


async def test_a_host_that_was_never_met_has_zeros(crawl: Crawl) -> None:
    state = await crawl.frontier.hosts.state("nobody.example")
    assert (state.queued, state.fetching, state.fetched, state.blocked) == (0, 0, 0, False)


async def test_the_recount_finds_what_was_tampered_with(crawl: Crawl) -> None:
    """A recount that never fails would prove nothing."""
    lease = await crawl.one("https://a.com/1")
    await crawl.add("https://a.com/2", "https://a.com/3")
    no = (await crawl.frontier.jobs.record("j")).no
    host, job = crawl.key("a.com", "h:a.com"), crawl.key("a.com", f"j:{no}")
    scope = crawl.key("a.com", f"d:{no}")
    due = crawl.key("a.com", "due")
    for key, name, word in (
        (host, "o", "out"),
        (job, "qd", "qd says"),
        (job, "le", "le says"),
        (job, "a", "accepted"),
        (scope, "n", "seen"),
    ):
        await crawl.raw("HINCRBY", key, name, 1)
        assert any(word in mismatch for mismatch in await recount(crawl.frontier)), name
        await crawl.raw("HINCRBY", key, name, -1)
    ranking = crawl.key("a.com", "hp")
    await crawl.raw("ZADD", ranking, 64, "a.com")
    assert any("the ranking says" in mismatch for mismatch in await recount(crawl.frontier))
    await crawl.raw("ZADD", ranking, 2, "a.com")
    await crawl.raw("ZADD", due, 1, "ghost/token")
    assert any("has no lease" in mismatch for mismatch in await recount(crawl.frontier))
    await crawl.raw("ZREM", due, "ghost/token")
    lanes = await crawl.raw("HGETALL", host)
    fields = lanes if isinstance(lanes, dict) else dict(zip(lanes[::2], lanes[1::2], strict=True))
    [lane] = [name for name in fields if name.startswith(b"q")]
    await crawl.raw("HDEL", host, lane)
    assert any("nobody will lease it" in mismatch for mismatch in await recount(crawl.frontier))
    await crawl.raw("HSET", host, lane, fields[lane])
    await crawl.counts_are_right()
    await crawl.settle(lease)
