"""Ended jobs are judged, filed, kept and announced once, and what they asked for is done."""

from __future__ import annotations

import hashlib
import hmac
import json
from typing import TYPE_CHECKING, Any

import pytest

from skitter.errors import UnknownJob
from skitter.jobs.submission import Action
from skitter.orchestrator.finisher import Finisher
from skitter.orchestrator.projector import Projector
from skitter.settings import Settings
from skitter.settings.services import JobsSettings
from skitter.settings.tree import ItemsSettings
from skitter.sinks import Item, open_sink
from tests.contract.jobs.bench import Bench
from tests.contract.jobs.fuse import Crash, Fuse
from tests.contract.jobs.receiver import Receiver
from tests.servers import list_keys
from tests.wait import wait_until_async

if TYPE_CHECKING:
    from pathlib import Path

    from skitter.frontier.events import JobEvent

SEEDS = ("https://a.example/", "https://b.example/")


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(
        items=ItemsSettings(sink=(f"sqlite:{tmp_path}/items.db",)),
        jobs=JobsSettings(retention_s=60, export_dir=tmp_path / "exports", webhook_attempts=3),
    )


@pytest.fixture
def finisher(bench: Bench, settings: Settings) -> Finisher:
    return Finisher(bench.frontier, bench.store, settings)


async def store_items(place: str, job: str, prices: list[float | None]) -> None:
    sink = open_sink(place)
    await sink.open()
    rows: list[Any] = [
        Item(f"{job}-{n}", job, "books", "https://a.example/", "book", {"price": price}, "w", {})
        for n, price in enumerate(prices)
    ]
    await sink.put(rows)
    await sink.close()


async def run(bench: Bench, **fields: Any) -> str:
    """A job that has come to its end."""
    job = (await bench.submit(**{"seeds": SEEDS} | fields)).id
    await bench.work(job, items=1)
    await ended(bench, job)
    return job


async def ended(bench: Bench, job: str) -> None:
    async def is_ended() -> bool:
        await bench.tidy()
        return (await bench.frontier.jobs.record(job)).state == "ended"

    await wait_until_async(is_ended)


async def told(bench: Bench, job: str) -> list[JobEvent]:
    events = await bench.frontier.events.read("0-0")
    return [event for event in events if event.job == job and event.kind == "ended"]


async def test_a_job_that_ended_is_kept_and_announced_once(
    bench: Bench, finisher: Finisher
) -> None:
    job = await run(bench)
    assert await told(bench, job) == []
    assert await finisher.tend() == 1
    assert await finisher.tend() == 0
    [event] = await told(bench, job)
    assert (event.outcome, event.figures["done"], event.figures["items"]) == ("finished", 2, 2)
    [listed] = (await bench.jobs.list(state="ended")).jobs
    assert (listed.id, listed.outcome, listed.figures.done) == (job, "finished", 2)


async def test_it_is_forgotten_by_the_server_and_stays_in_the_store(
    bench: Bench, finisher: Finisher
) -> None:
    job = await run(bench, labels={"a": "b"})
    await finisher.tend()
    bench.leap(61)
    await bench.tidy()
    await finisher.tend()
    with pytest.raises(UnknownJob):
        await bench.frontier.jobs.record(job)
    shown = await bench.jobs.show(job)
    assert (shown.state, shown.outcome, shown.labels) == ("ended", "finished", {"a": "b"})
    assert shown.submission is not None
    assert shown.submission.seeds == SEEDS
    assert [each.id for each in (await bench.jobs.list()).jobs] == [job]
    assert len(await told(bench, job)) == 1


async def test_nothing_of_old_jobs_is_left_in_the_server(
    bench: Bench, finisher: Finisher, server_url: str, namespace: str
) -> None:
    async def forget_all() -> bool:
        bench.leap(61)
        await bench.tidy()
        await finisher.tend()
        register = f"{bench.frontier.shards.prefixes[0]}ids"
        return not await bench.frontier.shards.command("HLEN", register)

    def kept() -> set[bytes]:
        return {key for key in list_keys(server_url) if namespace.encode() in key}

    await run(bench, unique=True)
    await finisher.tend()
    await wait_until_async(forget_all)
    before = kept()
    for number in range(5):
        job = (await bench.submit(seeds=(*SEEDS, "https://bad.example/"), unique=True)).id
        await bench.work(job, bury="bad" if number % 2 else "")
        await ended(bench, job)
    await finisher.tend()
    bench.leap(8 * 86_400)
    await wait_until_async(forget_all)
    new = {key.rpartition(b"}")[2].decode() for key in kept() - before}
    assert {name for name in new if not name.startswith(("h:", "s:", "hf", "hx", "e"))} == set()


async def test_dead_letters_keep_it_longer_and_errors_outlast_it(
    bench: Bench, finisher: Finisher
) -> None:
    job = (await bench.submit(seeds=("https://bad.example/",))).id
    await bench.work(job, bury="bad")
    await ended(bench, job)
    await finisher.tend()
    bench.leap(3600)
    await finisher.tend()
    assert (await bench.frontier.jobs.record(job)).state == "ended"
    assert (await bench.jobs.retry_failed(job)).figures.accepted == 1
    bench.leap(7 * 86_400)
    await bench.tidy()
    await finisher.tend()
    with pytest.raises(UnknownJob):
        await bench.frontier.jobs.record(job)
    assert await bench.jobs.errors(job) == {"500 it failed": 1}


async def test_gates_that_are_not_passed_change_the_outcome(
    bench: Bench, finisher: Finisher, settings: Settings
) -> None:
    gates = {"coverage": {"price": 0.9}}
    job = (await bench.submit(seeds=SEEDS, gates=gates)).id
    await store_items(settings.items.sink[0], job, [1.0, None])
    await bench.work(job)
    await ended(bench, job)
    waiting = await bench.jobs.show(job)
    assert (waiting.state, waiting.outcome) == ("running", "")
    assert "gates" in waiting.hint
    await finisher.tend()
    shown = await bench.jobs.show(job)
    assert (shown.state, shown.outcome) == ("ended", "quality failed")
    assert [failure["gate"] for failure in shown.failures] == ["coverage.price"]
    [event] = await told(bench, job)
    assert event.outcome == "quality failed"
    assert await bench.jobs.totals() == {"quality failed": 1}


async def test_gates_that_a_spider_declares_count_without_its_class(
    bench: Bench, finisher: Finisher, settings: Settings
) -> None:
    declared = json.dumps({"gates": {"coverage": {"price": 0.9}}, "usual": {"least_items": 7}})
    for job, gates in (("own", {}), ("less", {"coverage": {"price": 0.5}}), ("none", "none"),
                       ("usual", "usual")):  # fmt: skip
        await bench.submit(seeds=SEEDS, id=job, gates=gates)
        await bench.frontier.jobs.declare(job, declared)
        await bench.frontier.jobs.declare(job, json.dumps({"gates": {}}))  # the first one stays
        await store_items(settings.items.sink[0], job, [1.0, None])
        await bench.work(job)
        await ended(bench, job)
    assert (await bench.jobs.show("own")).state == "running"
    while await finisher.tend():
        pass
    failed = {
        job: [failure["gate"] for failure in (await bench.jobs.show(job)).failures]
        for job in ("own", "less", "none", "usual")
    }
    both = ["coverage.price", "least_items"]
    assert {job: sorted(gates) for job, gates in failed.items()} == {
        "own": ["coverage.price"], "less": [], "none": [], "usual": both,
    }  # fmt: skip
    assert (await bench.jobs.show("own")).outcome == "quality failed"


async def test_gates_that_cannot_be_read_fail_the_run(bench: Bench, finisher: Finisher) -> None:
    job = (await bench.submit(seeds=SEEDS)).id
    await bench.frontier.jobs.declare(job, json.dumps({"problem": "no such recipe"}))
    await bench.work(job)
    await ended(bench, job)
    await finisher.tend()
    [failure] = (await bench.jobs.show(job)).failures
    assert (failure["gate"], "no such recipe" in failure["reason"]) == ("gates", True)


async def test_a_run_is_held_against_good_ones_before_it(
    bench: Bench, finisher: Finisher, settings: Settings
) -> None:
    outcomes = []
    for number, price in enumerate((10.0, 11.0, 50.0)):
        job = (
            await bench.submit(seeds=SEEDS, id=f"run{number}", gates={"drift": {"price": 0.5}})
        ).id
        await store_items(settings.items.sink[0], job, [price])
        await bench.work(job)
        await ended(bench, job)
        await finisher.tend()
        outcomes.append((await bench.jobs.show(job)).outcome)
    assert outcomes == ["finished", "finished", "quality failed"]


async def test_bad_gates_and_no_items_fail_the_run(bench: Bench, finisher: Finisher) -> None:
    bad = await run(bench, gates={"colour": 1})
    none = await run(bench, gates={"least_items": 1})
    cancelled = (await bench.submit(gates={"least_items": 1})).id
    await bench.jobs.stop(cancelled)
    await finisher.tend()
    assert "colour" in (await bench.jobs.show(bad)).failures[0]["reason"]
    assert (await bench.jobs.show(none)).failures[0]["gate"] == "least_items"
    assert (await bench.jobs.show(cancelled)).outcome == "cancelled"


async def test_files_are_finalised_and_exports_written(
    bench: Bench, finisher: Finisher, tmp_path: Path
) -> None:
    place = f"jsonl:{tmp_path}/data"
    export = Action(kind="export", options={"to": "mine/{job}.csv", "fields": ["price"]})
    job = (await bench.submit(id="j", seeds=SEEDS, sinks=(place,), on_end=(export,))).id
    await store_items(place, job, [1.0, 2.5])
    await bench.work(job)
    await ended(bench, job)
    await finisher.tend()
    processed = list((tmp_path / "data").rglob("j.jsonl"))
    assert len(processed) == 1
    assert len(processed[0].read_text().splitlines()) == 2
    assert (tmp_path / "exports/mine/j.csv").read_text().split() == ["price", "1.0", "2.5"]


async def test_a_job_that_found_nothing_ends_with_empty_files(
    bench: Bench, finisher: Finisher, tmp_path: Path
) -> None:
    places = (f"jsonl:{tmp_path}/none", f"csv:{tmp_path}/none", f"sqlite:{tmp_path}/none.db")
    exports = tuple(
        Action(kind="export", options={"to": f"{{job}}.{form}"}) for form in ("jsonl", "csv")
    )
    job = await run(bench, sinks=places, on_end=exports)
    assert await finisher.tend() == 1
    assert (tmp_path / f"exports/{job}.jsonl").read_text() == ""
    assert (tmp_path / f"exports/{job}.csv").exists()


async def test_an_export_stays_in_its_folder(
    bench: Bench, finisher: Finisher, tmp_path: Path
) -> None:
    out = Action(kind="export", options={"to": "../stolen.jsonl"})
    await run(bench, on_end=(out,))
    await finisher.tend()
    assert not (tmp_path / "stolen.jsonl").exists()


async def test_a_webhook_is_signed_and_told_of_the_job(bench: Bench, finisher: Finisher) -> None:
    async with Receiver() as receiver:
        options = {"url": receiver.url, "secret": "s3cret", "headers": {"X-Mine": "1"}}
        job = await run(bench, on_end=(Action(kind="webhook", options=options),))
        await finisher.tend()
    [body], [headers] = receiver.bodies, receiver.headers
    told = json.loads(body)
    assert (told["kind"], told["job"]["id"], told["job"]["outcome"]) == ("ended", job, "finished")
    assert b"s3cret" not in body
    signed = f"{headers['X-Skitter-Timestamp']}.".encode() + body
    wanted = hmac.new(b"s3cret", signed, hashlib.sha256).hexdigest()
    assert headers["X-Skitter-Signature"] == f"sha256={wanted}"
    assert headers["X-Mine"] == "1"


async def test_a_webhook_that_fails_is_called_again_and_given_up_in_the_end(
    bench: Bench, finisher: Finisher
) -> None:
    async with Receiver() as receiver:
        receiver.status = 503
        hook = Action(kind="webhook", options={"url": receiver.url})
        other = Action(kind="webhook", options={"url": receiver.url, "outcomes": ["failed"]})
        job = await run(bench, on_end=(other, hook))
        assert await finisher.tend() == 0
        assert (await bench.jobs.show(job)).state == "ended"
        assert await finisher.tend() == 0
        assert len(receiver.bodies) == 1
        bench.leap(3)
        await finisher.tend()
        bench.leap(10)
        assert await finisher.tend() == 1
    assert len(receiver.bodies) == 3
    assert len(set(receiver.events)) == 1
    assert len(await told(bench, job)) == 1


async def test_another_job_follows_once(bench: Bench, finisher: Finisher) -> None:
    options = {"spider": "quotes", "args": {"a": "1"}, "seeds": ["https://q.example/"]}
    job = await run(bench, id="first", on_end=(Action(kind="job", options=options),))
    await finisher.tend()
    follower = await bench.jobs.show("first.then-1")
    assert (follower.spider, follower.labels) == ("quotes", {"after": job})
    record = await bench.frontier.jobs.record(job)
    await bench.frontier.endings.note(record, "act1", "0")  # as if its note had been lost
    await bench.frontier.endings.later(record, ms=0)
    bench.leap(1)
    assert await finisher.tend() == 1
    assert len((await bench.jobs.list(spider="quotes")).jobs) == 1


async def test_rows_of_live_jobs_follow_their_figures(bench: Bench, settings: Settings) -> None:
    projector = Projector(bench.frontier, bench.store, settings)
    job = (await bench.submit(seeds=SEEDS)).id
    await projector.tend()
    lane = (await bench.frontier.jobs.record(job)).job.lane
    leased = await bench.frontier.lease([lane], count=10)
    projector._looked_at = 0.0
    assert await projector.tend() == 1
    assert await bench.jobs.totals() == {"running": 1}
    projector._looked_at = 0.0
    assert await projector.tend() == 0
    await bench.frontier.release(leased.leases)


async def test_a_crash_after_any_step_loses_and_doubles_nothing(
    bench: Bench, settings: Settings
) -> None:
    crashed = 0
    follower = {"spider": "quotes", "seeds": ["https://q.example/"]}
    async with Receiver() as receiver:
        actions = (
            Action(kind="webhook", options={"url": receiver.url}),
            Action(kind="job", options=follower),
        )
        for calls in range(60):
            job = await run(bench, id=f"j{calls}", on_end=actions, gates={"least_items": 0})
            fuse = Fuse(bench, calls)
            try:
                await Finisher(bench.frontier, bench.store, settings).tend()
                whole = True
            except Crash:
                whole = False
            fuse.mend()
            crashed += not whole
            bench.leap(1)
            await Finisher(bench.frontier, bench.store, settings).tend()
            assert len(await told(bench, job)) == 1, calls
            shown = await bench.jobs.show(job)
            assert (shown.state, shown.outcome, shown.figures.done) == ("ended", "finished", 2)
            assert len((await bench.jobs.list(label=("after", job))).jobs) == 1, calls
            bodies = [json.loads(body)["job"]["id"] for body in receiver.bodies]
            assert 1 <= bodies.count(job) <= 2, calls
            if whole:
                break
    assert crashed > 10
    assert len(set(receiver.events)) == crashed + 1
