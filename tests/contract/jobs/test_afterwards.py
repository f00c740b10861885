"""What is done with jobs once they run or have run: seeds added, cloned, retried, deleted."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from skitter.errors import JobEnded, UnknownJob
from skitter.frontier import Scope
from skitter.service_errors import BadSubmission, JobLive, NothingFailed
from tests.contract.jobs.bench import Bench
from tests.wait import wait_until_async

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence


async def lines(texts: Sequence[str]) -> AsyncIterator[str]:
    for text in texts:
        yield text


async def end(bench: Bench, job: str) -> None:
    async def ended() -> bool:
        await bench.tidy()
        return (await bench.frontier.jobs.record(job)).state == "ended"

    await wait_until_async(ended)


async def test_seeds_are_added_as_they_come(bench: Bench) -> None:
    job = (await bench.submit(seeds=("https://a.example/",))).id
    texts = [f"https://a.example/{n}" for n in range(1200)]
    tally = await bench.jobs.add_seeds(
        job, lines([*texts, "", "nonsense", "https://a.example/", '{"url": "https://b.example/"}'])
    )
    assert (tally.new, tally.known, tally.turned_down) == (1201, 1, 1)
    assert (await bench.jobs.show(job)).figures.accepted == 1202
    await bench.jobs.stop(job)
    with pytest.raises(JobEnded):
        await bench.jobs.add_seeds(job, lines(["https://a.example/more"]))


async def test_one_who_adds_does_not_let_go_for_another(bench: Bench) -> None:
    job = (await bench.submit(seeds=("https://a.example/",))).id
    waiting, go_on = asyncio.Event(), asyncio.Event()

    async def slow() -> AsyncIterator[str]:
        waiting.set()
        await go_on.wait()
        yield "https://a.example/late"

    adding = asyncio.create_task(bench.jobs.add_seeds(job, slow()))
    await waiting.wait()
    await bench.jobs.add_seeds(job, lines(["https://a.example/quick"]))
    assert len(await bench.frontier.jobs.holds(job)) == 1
    go_on.set()
    assert (await adding).new == 1
    assert await bench.frontier.jobs.holds(job) == {}


async def test_a_clone_has_all_but_what_is_changed(bench: Bench) -> None:
    scope, seeds = Scope(allow=("/a",)), ("https://a.example/a",)
    first = await bench.submit(seeds=seeds, scope=scope, labels={"a": "b"}, max_pages=5)
    await bench.jobs.stop(first.id)
    clone = await bench.jobs.clone(first.id, priority=3, max_pages=None)
    assert clone.id != first.id
    assert (clone.priority, clone.labels, clone.figures.accepted) == (3, {"a": "b"}, 1)
    assert clone.submission is not None
    assert (clone.submission.seeds, clone.submission.scope) == (seeds, scope)
    assert clone.submission.max_pages is None
    with pytest.raises(BadSubmission, match="colour"):
        await bench.jobs.clone(first.id, colour="red")
    with pytest.raises(UnknownJob):
        await bench.jobs.clone("nobody")


async def test_a_live_job_is_given_again_what_failed(bench: Bench) -> None:
    seeds = tuple(f"https://{kind}{n}.example/" for n in range(3) for kind in ("good", "bad"))
    job = (await bench.submit(seeds=seeds)).id
    await bench.work(job, bury="bad")
    assert (await bench.jobs.errors(job)) == {"500 it failed": 3}
    shown = await bench.jobs.retry_failed(job)
    assert (shown.id, shown.figures.queued, shown.figures.accepted) == (job, 3, 9)
    assert await bench.work(job) == 3
    await end(bench, job)
    assert (await bench.jobs.show(job)).figures.done == 6


async def test_an_ended_job_is_retried_in_a_new_one_with_only_what_failed(bench: Bench) -> None:
    seeds = tuple(f"https://{kind}{n}.example/" for n in range(3) for kind in ("good", "bad"))
    old = await bench.submit(seeds=seeds, args={"a": "1"}, labels={"team": "x"})
    await bench.work(old.id, bury="bad")
    await end(bench, old.id)
    new = await bench.jobs.retry_failed(old.id)
    assert new.id != old.id
    assert new.labels == {"team": "x", "retry_of": old.id}
    assert new.figures.queued == 3
    urls = {request.url for request in await bench.jobs.peek(new.id)}
    assert urls == {f"https://bad{n}.example/" for n in range(3)}
    await bench.work(new.id)
    await end(bench, new.id)
    with pytest.raises(NothingFailed):
        await bench.jobs.retry_failed(new.id)


async def test_only_what_has_ended_is_deleted(bench: Bench) -> None:
    job = (await bench.submit(seeds=("https://bad.example/",), labels={"a": "b"})).id
    with pytest.raises(JobLive, match="queued"):
        await bench.jobs.delete(job)
    await bench.work(job, bury="bad")
    await end(bench, job)
    await bench.tidy()
    await bench.jobs.delete(job)
    with pytest.raises(UnknownJob):
        await bench.jobs.show(job)
    assert (await bench.jobs.list(label=("a", "b"))).jobs == []
    assert await bench.jobs.totals() == {}
    assert (await bench.submit(id=job)).state == "queued"


async def test_events_are_told_once_and_go_on_where_one_stopped(bench: Bench) -> None:
    seen: list[tuple[str, str]] = []
    first = await bench.submit(id="a", project="p")
    await bench.jobs.pause("a")
    await bench.submit(id="b")
    await bench.jobs.resume("a")
    await bench.jobs.reprioritise("a", 9)
    await bench.jobs.list()  # finds nothing unsaid
    last = ""
    async for event in bench.jobs.events(after="0-0"):
        seen.append((event.kind, event.job))
        last = event.id if event.job == "b" else last
        if event.kind == "reprioritised":
            break
    assert seen == [
        ("submitted", "a"),
        ("paused", "a"),
        ("submitted", "b"),
        ("resumed", "a"),
        ("reprioritised", "a"),
    ]
    events = bench.jobs.events(after=last, job="a")
    event = await anext(events)
    assert (event.kind, event.project, event.version) == ("resumed", "p", first.version + 2)


async def test_a_listener_hears_what_comes_after_it_began(bench: Bench) -> None:
    await bench.submit(id="before")
    events = bench.jobs.events()
    hearing = asyncio.create_task(anext(events))
    other = asyncio.create_task(anext(bench.jobs.events(job="later")))
    await asyncio.sleep(0)

    async def heard() -> bool:
        if not hearing.done():
            await bench.jobs.pause("before")
            await bench.jobs.resume("before")
        return hearing.done()

    await wait_until_async(heard)
    assert hearing.result().job == "before"
    await bench.submit(id="later")
    assert (await other).kind == "submitted"


async def test_a_job_that_nobody_can_run_says_so(bench: Bench) -> None:
    job = (await bench.submit()).id
    assert "no worker is running" in (await bench.jobs.show(job)).hint
    await bench.frontier.workers.beat("w", {"spiders": ["other"]})
    assert "no worker has a spider books" in (await bench.jobs.show(job)).hint
    lane = (await bench.frontier.jobs.record(job)).job.lane
    await bench.frontier.workers.beat("w", {"errors": {f"books ({lane})": "ValueError: no"}})
    assert "ValueError: no" in (await bench.jobs.show(job)).hint
    await bench.frontier.workers.beat("w", {"spiders": ["books"]})
    assert (await bench.jobs.show(job)).hint == ""
