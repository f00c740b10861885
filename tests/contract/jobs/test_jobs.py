"""Jobs are submitted, shown, listed and changed, and what is shown is what the server has."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from skitter.errors import JobEnded, UnknownJob
from skitter.frontier import Job, Request, Scope
from skitter.jobs.listing import Count
from skitter.jobs.submission import Action, Submission
from skitter.orchestrator.projector import Projector
from skitter.service_errors import BadCursor, BadSubmission, JobStands
from skitter.settings import Settings
from skitter.settings.tree import ItemsSettings
from tests.contract.jobs.bench import Bench
from tests.contract.jobs.fuse import Crash, Fuse

if TYPE_CHECKING:
    from pathlib import Path


async def test_without_seeds_the_spiders_start_is_queued(bench: Bench) -> None:
    job = await bench.submit(args={"shelf": "new"}, labels={"team": "a"}, attrs={"n": 1})
    assert (job.state, job.outcome, job.figures.accepted) == ("queued", "", 1)
    assert [request.url for request in await bench.jobs.peek(job.id)] == ["start:"]
    assert (job.args, job.labels, job.attrs) == ({"shelf": "new"}, {"team": "a"}, {"n": 1})


async def test_with_seeds_they_are_its_first_requests(bench: Bench) -> None:
    seeds = tuple(f"https://h{n}.example/" for n in range(2500))
    job = await bench.submit(seeds=(*seeds, '{"url": "https://p.example/", "priority": 5}'))
    assert job.figures.accepted == 2501
    assert job.submission is not None
    assert job.submission.seeds[:2500] == seeds
    assert await bench.frontier.jobs.holds(job.id) == {}


async def test_it_runs_and_ends_and_says_how(bench: Bench) -> None:
    job = await bench.submit(seeds=("https://a.example/1", "https://a.example/2"))
    lane = (await bench.frontier.jobs.record(job.id)).job.lane
    leased = await bench.frontier.lease([lane], count=1)
    assert (await bench.jobs.show(job.id)).state == "running"
    await bench.frontier.release(leased.leases)
    assert await bench.work(job.id, items=3, bytes=100, spider_errors=1) == 2
    await bench.tidy()
    ended = await bench.jobs.show(job.id)
    assert (ended.state, ended.outcome) == ("ended", "finished")
    assert ended.ended_at is not None
    assert ended.ended_at >= ended.created_at
    figures = ended.figures
    assert (figures.done, figures.pages, figures.items) == (2, 2, 6)
    assert (figures.bytes, figures.errors) == (200, 2)


async def test_changes_are_in_the_server_and_in_the_store(bench: Bench) -> None:
    job = (await bench.submit(seeds=("https://a.example/",))).id
    assert (await bench.jobs.pause(job)).state == "paused"
    assert [each.id for each in (await bench.jobs.list(state="paused")).jobs] == [job]
    assert (await bench.jobs.resume(job)).state == "queued"
    assert (await bench.jobs.reprioritise(job, 7)).priority == 7
    stopped = await bench.jobs.stop(job)
    assert (stopped.state, stopped.outcome) == ("ended", "cancelled")
    assert [each.id for each in (await bench.jobs.list(outcome="cancelled")).jobs] == [job]
    with pytest.raises(JobEnded, match="cancelled"):
        await bench.jobs.pause(job)


async def test_an_id_is_given_once(bench: Bench) -> None:
    await bench.submit(id="one")
    with pytest.raises(JobStands, match="one"):
        await bench.submit(id="one")
    with pytest.raises(UnknownJob):
        await bench.jobs.show("another")


async def test_a_unique_job_stands_alone_while_it_lives(bench: Bench) -> None:
    fields = {"seeds": ("https://a.example/",), "args": {"x": "1"}, "unique": True}
    first = await bench.submit(**fields)
    with pytest.raises(JobStands, match=first.id):
        await bench.submit(**fields)
    await bench.submit(**fields | {"args": {"x": "2"}})
    await bench.submit(**fields | {"scope": Scope(deny=("/x",))})
    await bench.jobs.stop(first.id)
    assert (await bench.submit(**fields)).state == "queued"


async def test_a_reserved_name_of_nobody_is_free_after_a_while(bench: Bench) -> None:
    wanted = Submission(spider="books", unique=True)
    assert await bench.frontier.jobs.reserve(wanted.digest(), "died") == ("", 0)
    with pytest.raises(JobStands, match="died"):
        await bench.submit(unique=True)
    server_ms = (await bench.frontier.jobs.submit(Job(id="clock", spider="x"))).created_ms
    bench.frontier.shards.clock = lambda: server_ms + 61_000
    assert (await bench.submit(unique=True)).state == "queued"


async def test_jobs_that_came_another_way_are_listed_too(bench: Bench) -> None:
    await bench.frontier.jobs.submit(Job(id="pushed", spider="books", labels={"a": "b"}))
    await bench.frontier.add([Request("pushed", "https://a.example/")])
    listed = (await bench.jobs.list()).jobs
    assert [(job.id, job.figures.accepted) for job in listed] == [("pushed", 1)]
    assert [job.id for job in (await bench.jobs.list(label=("a", "b"))).jobs] == ["pushed"]
    shown = await bench.jobs.show("pushed")
    assert shown.submission is not None
    assert shown.submission.spider == "books"


async def test_a_listing_goes_on_where_it_stopped(bench: Bench) -> None:
    made = [(await bench.submit(id=f"job-{n}")).id for n in range(7)]
    first = await bench.jobs.list(limit=3)
    second = await bench.jobs.list(limit=3, after=first.next)
    await bench.submit(id="later")
    third = await bench.jobs.list(limit=3, after=second.next)
    pages = [job.id for page in (first, second, third) for job in page.jobs]
    assert pages == sorted(made, reverse=True)
    assert third.next is None
    with pytest.raises(BadCursor):
        await bench.jobs.list(after="nonsense")


async def test_what_is_listed_is_what_is_shown(bench: Bench) -> None:
    for n in range(5):
        seeds = tuple(f"https://h{host}.example/{n}" for host in range(8))
        await bench.submit(id=f"j{n}", seeds=seeds, args={"n": str(n)})
    await bench.work("j0", bury="h3", items=2)
    await bench.jobs.pause("j1")
    await bench.jobs.stop("j2")
    await bench.submit(id="gone")
    await bench.frontier.jobs.stop("gone")  # so the store has it as live
    await bench.tidy()
    await bench.frontier.jobs.forget("gone")
    for listed in (await bench.jobs.list()).jobs:
        shown = await bench.jobs.show(listed.id)
        assert replace(shown, submission=None, hint="") == replace(listed, submission=None)


async def test_the_server_is_asked_no_oftener_for_many_jobs_than_for_few(bench: Bench) -> None:
    for n in range(60):
        await bench.submit(id=f"job-{n:02}", seeds=(f"https://h{n}.example/",))
    await bench.jobs.list(limit=2)
    asked = []
    for limit in (32, 60):  # enough that each shard of a cluster is home to some
        before = await _calls(bench)
        page = await bench.jobs.list(limit=limit)
        assert sum(job.figures.accepted for job in page.jobs) == limit
        asked.append(await _calls(bench) - before)
    assert abs(asked[1] - asked[0]) <= bench.frontier.shards.count


async def _calls(bench: Bench) -> int:
    """How many scripts and reads of hashes the servers have run by order of a client."""
    said: Any = await bench.frontier.shards.server.client.info("commandstats")
    nodes = said.values() if bench.frontier.shards.server.cluster else [said]
    names = ("evalsha", "hmget", "hget")
    counts = [node.get(f"cmdstat_{name}", {"calls": 0}) for node in nodes for name in names]
    return sum(int(count["calls"]) for count in counts)


async def test_filters_find_what_they_say(bench: Bench) -> None:
    await bench.submit(id="a", spider="shop", project="p", labels={"team": "red", "x": "y"})
    await bench.submit(id="b", spider="shop", args={"country": "Tunisia"})
    await bench.submit(id="c.d", spider="quotes", labels={"team": "blue"})
    await bench.submit(id="e", seeds=("https://www.books.example/all",))

    async def ids(**filters: Any) -> list[str]:
        page = await bench.jobs.list(**filters)
        assert await bench.jobs.count(**filters) == Count(len(page.jobs))
        return [job.id for job in page.jobs]

    assert await ids(spider="shop") == ["b", "a"]
    assert await ids(project="p") == ["a"]
    assert await ids(label=("team", "blue")) == ["c.d"]
    assert await ids(label=("team", "red"), text="shop Y") == ["a"]
    assert await ids(text="tunisia") == ["b"]
    assert await ids(text="C.D") == ["c.d"]
    assert await ids(text="www.books.example") == ["e"]
    assert await ids(text="example books") == ["e"]
    assert await ids(text="nothing") == []
    assert await ids(text="  ") == []
    middle = (await bench.jobs.show("c.d")).created_at
    assert await ids(since=middle) == ["e", "c.d"]
    assert await ids(until=middle) == ["b", "a"]


async def test_totals_are_those_that_counting_gives(bench: Bench) -> None:
    for n in range(4):
        await bench.submit(id=f"j{n}", project="p" if n else "q")
    await bench.jobs.stop("j1")
    await bench.jobs.pause("j2")
    assert await bench.jobs.totals() == {"cancelled": 1, "paused": 1, "queued": 2}
    assert await bench.jobs.totals(project="q") == {"queued": 1}


async def test_counts_by_spider_follow_what_becomes_of_its_jobs(bench: Bench) -> None:
    for n in range(3):
        await bench.submit(id=f"j{n}", spider="shop", project="p" if n else "q")
    await bench.submit(id="other", spider="news", project="p")
    await bench.jobs.stop("j1")
    assert await bench.jobs.count(spider="shop") == Count(3)
    assert await bench.jobs.count(spider="shop", project="p") == Count(2)
    assert await bench.jobs.count(spider="shop", state="queued") == Count(2)
    assert await bench.jobs.count(spider="shop", outcome="cancelled") == Count(1)
    await bench.tidy()
    await bench.jobs.delete("j1")
    assert await bench.jobs.count(spider="shop") == Count(2)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"id": "a/b"}, "its id 'a/b'"),
        ({"spider": ""}, "its spider"),
        ({"max_pages": 0}, "max_pages"),
        ({"scope": Scope(allow=("(",))}, "regular expression"),
        ({"labels": {"a": "b" * 300}}, "label"),
        ({"attrs": {"a": object()}}, "cannot be stored"),
        ({"on_end": (Action(kind="dance"),)}, "'dance'"),  # type: ignore[arg-type]
    ],
)
async def test_what_cannot_be_is_refused_before_anything_is_written(
    bench: Bench, fields: dict[str, object], reason: str
) -> None:
    with pytest.raises(BadSubmission, match=reason):
        await bench.submit(**fields)
    assert (await bench.jobs.list()).jobs == []
    assert await bench.frontier.jobs.live() == []


def test_a_submission_is_read_as_it_was_written() -> None:
    wanted = Submission(
        spider="s",
        seeds=("https://a.example/",),
        scope=Scope(allow=("a",)),
        sinks=("jsonl:out",),
        on_end=(Action(kind="webhook", options={"url": "http://h/"}),),
    )
    assert Submission.from_json(wanted.to_json()) == wanted
    assert Submission.of_job(wanted.job("x")).on_end == wanted.on_end
    with pytest.raises(BadSubmission, match="'seed'"):
        Submission.from_json({"spider": "s", "seed": "x"})


async def test_a_submitter_that_dies_at_any_step_leaves_a_whole_job_or_none(
    bench: Bench, tmp_path: Path
) -> None:
    crashed, seeds = 0, tuple(f"https://h{n}.example/" for n in range(5))
    settings = Settings(items=ItemsSettings(sink=(f"sqlite:{tmp_path}/items.db",)))
    for calls in range(40):
        fuse, job = Fuse(bench, calls), f"j{calls}"
        try:
            await bench.submit(id=job, seeds=seeds)
            whole = True
        except Crash:
            whole = False
        fuse.mend()
        crashed += not whole
        bench.leap(61)  # the dead one's hold runs out
        await bench.tidy()
        await Projector(bench.frontier, bench.store, settings).tend()
        seen = {each.id: each for each in (await bench.jobs.list(limit=100)).jobs}
        if job in seen and seen[job].outcome != "failed":  # that one died before it was written
            assert (seen[job].state, seen[job].figures.accepted) == ("queued", 5), calls
            assert await bench.frontier.jobs.holds(job) == {}
        assert whole or job not in seen or calls > 0
        if whole:
            break
    assert crashed > 5
    assert sum(each.outcome == "failed" for each in seen.values()) <= 1
