"""Live jobs: pause, resume, stop, expire, reprioritise, holds, exact completion, forgetting."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from skitter.errors import JobEnded, JobInUse, UnknownJob
from skitter.frontier import Cookie, Job, Request
from skitter.frontier.completer import Completer
from tests.contract.frontier.crawl import hosts, pages

if TYPE_CHECKING:
    from tests.contract.frontier.crawl import Crawl


async def test_a_submitted_job_stands_as_it_is(crawl: Crawl) -> None:
    job = await crawl.job(priority=3, attrs={"tag": ["x"]}, args={"a": "b"})
    record = await crawl.frontier.jobs.record("j")
    assert (record.job, record.state, record.outcome, record.priority) == (job, "running", "", 3)
    again = await crawl.frontier.jobs.submit(Job(id="j", spider="other"))
    assert again == record
    assert await crawl.frontier.jobs.live() == ["j"]


async def test_unknown_jobs_are_named(crawl: Crawl) -> None:
    jobs = crawl.frontier.jobs
    for call in (jobs.record, jobs.pause, jobs.resume, jobs.stop, jobs.release_hold, jobs.forget):
        with pytest.raises(UnknownJob, match="no job nobody"):
            await call("nobody")


async def test_a_paused_job_is_not_leased_and_resumes(crawl: Crawl) -> None:
    await crawl.job()
    await crawl.job("other")
    urls = [url for host in hosts(8) for url in pages(host, 2)]
    await crawl.add(*urls)
    await crawl.add("https://www.site0.com/other", job="other")
    assert (await crawl.frontier.jobs.pause("j")).state == "paused"
    assert await crawl.lease_urls() == ["https://www.site0.com/other"]
    assert await crawl.lease() == []
    await crawl.add("https://www.site1.com/while-paused")
    await crawl.counts_are_right()
    assert await crawl.lease() == []
    assert (await crawl.frontier.jobs.resume("j")).state == "running"
    assert len(await crawl.lease()) == 17


async def test_a_paused_job_does_not_complete(crawl: Crawl) -> None:
    lease = await crawl.one("https://a.com/")
    await crawl.frontier.jobs.pause("j")
    await crawl.settle(lease)
    await crawl.tend(times=2)
    assert (await crawl.frontier.jobs.record("j")).state == "paused"
    await crawl.frontier.jobs.resume("j")
    await crawl.tend(times=2)
    assert (await crawl.frontier.jobs.record("j")).outcome == "finished"


async def test_a_resume_that_was_cut_short_is_finished_by_a_caretaker(crawl: Crawl) -> None:
    await crawl.job()
    await crawl.add(*(f"https://{host}/" for host in hosts(20)))
    await crawl.frontier.jobs.pause("j")
    assert await crawl.lease() == []
    jobs = crawl.frontier.jobs
    no = (await jobs.known("j")).no
    await jobs._change_home(no, "resume", "")  # and dies before it tells anyone
    await crawl.tend(times=2)
    assert len(await crawl.lease()) == 20


async def test_a_stop_that_was_cut_short_is_finished_by_a_caretaker(crawl: Crawl) -> None:
    await crawl.job()
    await crawl.add(*(f"https://{host}/" for host in hosts(20)))
    jobs = crawl.frontier.jobs
    await jobs._change_home((await jobs.known("j")).no, "end", "cancelled")
    await crawl.tend(times=2)
    assert await crawl.lease() == []
    stats = await crawl.frontier.stats.job("j")
    assert (stats.discarded, stats.queued) == (20, 0)


async def test_a_stopped_job_gives_its_memory_back(crawl: Crawl) -> None:
    await crawl.job()
    await crawl.add(*(url for host in hosts(30) for url in pages(host, 40)))
    leases = await crawl.lease(10)
    retried = leases[0]
    await crawl.settle(retried, outcome="retry", reason="later", retry_ms=10**6)
    record = await crawl.frontier.jobs.stop("j")
    assert (record.state, record.outcome) == ("ended", "cancelled")
    assert await crawl.lease() == []
    await crawl.settle(*leases[1:])
    await crawl.tend(times=2)
    stats = await crawl.frontier.stats.job("j")
    assert (stats.accepted, stats.done, stats.discarded, stats.pending) == (1200, 9, 1191, 0)
    left = [name for name in crawl.leaks() if name.startswith(("q:", "d:", "r", "p:", "z", "hp"))]
    assert left == []


async def test_stopping_again_changes_nothing_and_other_changes_are_refused(crawl: Crawl) -> None:
    await crawl.job()
    first = await crawl.frontier.jobs.stop("j", outcome="failed")
    assert await crawl.frontier.jobs.stop("j") == first
    with pytest.raises(JobEnded, match="failed"):
        await crawl.frontier.jobs.resume("j")
    assert not await crawl.frontier.jobs.hold("j", "feed", ms=1000)


async def test_other_jobs_at_the_hosts_of_a_stopped_one_go_on(crawl: Crawl) -> None:
    await crawl.job("goes")
    await crawl.job("stays")
    for name in ("goes", "stays"):
        await crawl.add(*(f"https://{host}/{name}" for host in hosts(12)), job=name)
    await crawl.frontier.jobs.stop("goes")
    leases = await crawl.lease()
    assert {lease.request.job for lease in leases} == {"stays"}
    assert len(leases) == 12


async def test_a_job_expires(crawl: Crawl) -> None:
    await crawl.job(expires_s=10)
    await crawl.add("https://a.com/1", "https://a.com/2")
    crawl.clock.step(9_000)
    await crawl.tend()
    assert (await crawl.frontier.jobs.record("j")).state == "running"
    crawl.clock.step(1_000)
    assert (await crawl.add("https://a.com/3")).refused == {"job ended": 1}
    await crawl.tend(times=2)
    record = await crawl.frontier.jobs.record("j")
    assert (record.state, record.outcome) == ("ended", "expired")
    assert record.ended_ms == crawl.clock.now_ms


async def test_reprioritising_moves_all_that_is_queued(crawl: Crawl) -> None:
    await crawl.job("one", priority=1)
    await crawl.job("two", priority=1)
    await crawl.add(*pages("a.com", 4), job="one")
    await crawl.add(*pages("a.com", 4), job="two")
    record = await crawl.frontier.jobs.reprioritise("two", 50)
    assert record.priority == 50
    await crawl.tend()
    first = [(await crawl.lease(1))[0].request.job for _ in range(3)]
    assert first == ["two"] * 3
    await crawl.frontier.jobs.reprioritise("two", -50)
    assert (await crawl.frontier.jobs.record("two")).priority == -50
    await crawl.tend()
    await crawl.counts_are_right()
    assert len(await crawl.lease()) == 5


async def test_a_job_is_not_done_while_something_holds_it(crawl: Crawl) -> None:
    await crawl.job(held=True)
    jobs = crawl.frontier.jobs
    assert list(await jobs.holds("j")) == ["submit"]
    assert await jobs.hold("j", "feed", ms=20_000)
    await jobs.release_hold("j")
    await crawl.tend()
    assert (await jobs.record("j")).state == "running"
    crawl.clock.step(14_000)
    await crawl.tend()
    assert (await jobs.record("j")).state == "running"
    crawl.clock.step(6_001)
    await crawl.tend()
    assert (await jobs.record("j")).outcome == "finished"


async def test_a_hold_can_be_held_longer(crawl: Crawl) -> None:
    await crawl.job(held=True)
    for _ in range(5):
        crawl.clock.step(14_000)
        await crawl.frontier.jobs.hold("j", "submit", ms=20_000)
        await crawl.tend()
    assert (await crawl.frontier.jobs.record("j")).state == "running"


async def test_a_job_is_finished_when_everything_is_settled_and_not_before(crawl: Crawl) -> None:
    await crawl.job()
    await crawl.add(*(url for host in hosts(5) for url in pages(host, 3)))
    leases = await crawl.lease()
    *most, retried, last = leases
    await crawl.settle(*most)
    await crawl.settle(retried, outcome="retry", reason="later", retry_ms=5000)
    await crawl.settle(last, children=[Request("j", "https://www.site9.com/child")])
    await crawl.tend(times=2)
    assert (await crawl.frontier.jobs.record("j")).state == "running"
    assert await crawl.finish_all() == "finished"
    stats = await crawl.frontier.stats.job("j")
    assert (stats.accepted, stats.done, stats.pending) == (16, 16, 0)


async def test_a_job_that_buried_everything_is_finished(crawl: Crawl) -> None:
    lease = await crawl.one("https://a.com/")
    await crawl.settle(lease, outcome="bury", reason="http 404")
    await crawl.tend(times=2)
    assert (await crawl.frontier.jobs.record("j")).outcome == "finished"


async def test_a_completer_that_died_half_way_does_not_close_a_job_for_good(crawl: Crawl) -> None:
    lease = await crawl.one("https://a.com/")
    await crawl.settle(lease)
    completer = Completer(crawl.frontier)
    record = await crawl.frontier.jobs.record("j")
    assert await completer._close(record, await completer._read(record))
    await crawl.frontier.jobs.hold("j", "feed", ms=10_000)
    adding = asyncio.create_task(crawl.add("https://a.com/2"))
    await crawl.tend(times=2)
    assert not await completer.complete("j")
    await crawl.frontier.jobs.tell("j")
    assert (await asyncio.wait_for(adding, 30)).new == 1


async def test_completion_races_with_additions_and_loses_nothing(crawl: Crawl) -> None:
    """Whatever wins, what was accepted is crawled, and what was not accepted is said."""
    await crawl.job()
    other = await crawl.worker("w2")
    refused = accepted = 0
    for n in range(12):
        added, _ = await asyncio.gather(
            other.add(f"https://{hosts(12)[n]}/"), Completer(crawl.frontier).complete("j")
        )
        accepted += added.new
        refused += added.refused.get("job ended", 0)
        await crawl.settle(*await crawl.lease())
    await crawl.tend(times=2)
    stats = await crawl.frontier.stats.job("j")
    assert accepted + refused == 12
    assert (stats.accepted, stats.done) == (accepted, accepted)


async def test_an_ended_job_is_forgotten_without_a_trace(crawl: Crawl) -> None:
    await crawl.job(max_pages=5, max_per_host=3)
    lease = await crawl.one("https://a.com/")
    await crawl.frontier.cookies.put("j", "a.com", [Cookie("s", "1", "a.com")], jar="me")
    await crawl.settle(lease, outcome="retry", reason="x", error="y", retry_ms=5)
    await crawl.frontier.jobs.stop("j")
    await crawl.tend(times=2)
    await crawl.frontier.jobs.forget("j")
    assert crawl.leaks() == []
    with pytest.raises(UnknownJob):
        await crawl.frontier.jobs.record("j")
    await crawl.job()
    assert (await crawl.add("https://a.com/")).new == 1
    assert await crawl.frontier.cookies.get("j", "a.com", jar="me") == []


async def test_a_job_in_use_is_not_forgotten(crawl: Crawl) -> None:
    jobs = crawl.frontier.jobs
    lease = await crawl.one("https://a.com/1")
    buried = await crawl.one("https://b.org/2")
    await crawl.add("https://c.net/3")
    with pytest.raises(JobInUse, match="running"):
        await jobs.forget("j")
    await crawl.settle(buried, outcome="bury", reason="http 410")
    await jobs.stop("j")
    with pytest.raises(JobInUse, match=r"leased|unswept|dead letters"):
        await jobs.forget("j")
    await crawl.settle(lease)
    await crawl.tend(times=2)
    with pytest.raises(JobInUse, match="dead letters"):
        await jobs.forget("j")
    assert (await crawl.frontier.stats.job("j")).buried == 1
    await crawl.frontier.dead.discard(await crawl.frontier.dead.find(job="j"))
    await jobs.forget("j")
