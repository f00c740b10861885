"""A job's whole way: submitted, crawled by workers, ended, seen to, kept, whatever is killed."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from skitter.errors import UnknownJob
from skitter.jobs.service import Jobs
from skitter.jobs.submission import Action, Submission
from skitter.lab import WebSpec
from skitter.sinks import read_items
from skitter.store import Store
from tests.contract.jobs.receiver import Receiver
from tests.integration.worker.crew import ROOT, Crew
from tests.wait import wait_until_async

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from skitter.jobs.view import JobView
    from skitter.lab.pytest_plugin import StartLabProcess

SMALL = WebSpec(hosts=3, pages=6)


def flags(crew: Crew, folder: Path, **more: Any) -> dict[str, Any]:
    return {
        "redis.url": crew.server_url,
        "redis.namespace": crew.namespace,
        "store.url": f"sqlite:{folder}/kept.db",
        "items.sink": crew.sink,
        "jobs.export_dir": str(folder / "exports"),
        "jobs.retention_s": 0,
    } | {name.replace("__", "."): value for name, value in more.items()}


@contextmanager
def tender(given: dict[str, Any]) -> Iterator[subprocess.Popen[bytes]]:
    """The loops, until the block ends; killed, for that must do no harm."""
    command = [sys.executable, "-m", "tests.integration.jobs.tending", json.dumps(given)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE)
    try:
        yield process
    finally:
        process.kill()
        process.communicate(timeout=30)


async def until(jobs: Jobs, job: str, state: str) -> JobView:
    async def reached() -> bool:
        return (await jobs.show(job)).state == state

    await wait_until_async(reached, timeout_s=60, what=f"{job} is {state}")
    return await jobs.show(job)


async def test_from_submission_to_history(
    crew: Crew, lab_process: StartLabProcess, tmp_path: Path
) -> None:
    lab = lab_process(SMALL)
    crew.start(lab=lab)
    own = f"jsonl:{tmp_path}/own"
    given = flags(crew, tmp_path)
    async with await Store.open(given["store.url"]) as store:
        jobs = Jobs(crew.frontier, store)
        fields: dict[str, Any] = {"spider": "links", "args": {"seeds": lab.url(0)}}
        usual = await jobs.submit(Submission(**fields))
        export = Action(kind="export", options={"to": "{job}.jsonl"})
        mine = await jobs.submit(
            Submission(
                **fields, sinks=(own,), gates={"least_items": 18}, on_end=(export,), id="mine"
            )
        )
        with tender(given):
            ended = await until(jobs, usual.id, "ended")
            assert (ended.outcome, ended.figures.pages, ended.figures.items) == ("finished", 18, 19)
            assert (await until(jobs, mine.id, "ended")).outcome == "finished"

            async def forgotten() -> bool:
                try:
                    await crew.frontier.jobs.record("mine")
                except UnknownJob:
                    return True
                return False

            await wait_until_async(forgotten, timeout_s=60, what="the server forgets the job")
        kept = await jobs.show("mine")
        assert (kept.state, kept.outcome, kept.figures.items) == ("ended", "finished", 19)
    assert len(crew.items(usual.id)) == 19
    assert crew.items("mine") == []
    assert len(list(read_items(own, job="mine"))) == 19
    exported = (tmp_path / "exports/mine.jsonl").read_text().splitlines()
    assert len(exported) == 19
    [finalised] = (tmp_path / "own").rglob("mine.jsonl")
    assert len(finalised.read_text().splitlines()) == 19


@pytest.mark.timeout(300)  # a dead submitter's hold lasts for a minute
async def test_a_finisher_that_is_killed_loses_and_doubles_nothing(
    crew: Crew, lab_process: StartLabProcess, tmp_path: Path
) -> None:
    lab = lab_process(SMALL)
    crew.start(lab=lab)
    given = flags(crew, tmp_path)
    follower = {"spider": "links", "args": {"seeds": lab.url(0)}, "max_pages": 1}
    async with Receiver() as receiver, await Store.open(given["store.url"]) as store:
        jobs = Jobs(crew.frontier, store)
        hook = Action(kind="webhook", options={"url": receiver.url})
        actions = (Action(kind="job", options=follower), hook)
        fields: dict[str, Any] = {"spider": "links", "args": {"seeds": lab.url(0)}, "max_pages": 3}
        names = [f"j{number}" for number in range(8)]
        for name in names:
            await jobs.submit(Submission(**fields, id=name, on_end=actions))
        await crew.until_ended(*names)

        async def ended() -> list[str]:
            events = await crew.frontier.events.read("0-0")
            return [event.job for event in events if event.kind == "ended"]

        async def all_seen_to() -> bool:
            return len(await ended()) >= 16 and not await crew.frontier.endings.due(limit=1)

        for calls in (1, 2, 4):  # killed as soon as so many jobs are told of

            def told_of(calls: int = calls) -> bool:
                return len(receiver.bodies) >= calls

            with tender(given):
                await wait_until_async(told_of, timeout_s=30)
        with tender(given):
            await wait_until_async(all_seen_to, timeout_s=150, what="all are seen to")
        assert sorted(await ended()) == sorted([*names, *(f"{name}.then-1" for name in names)])
        told = {json.loads(body)["job"]["id"] for body in receiver.bodies}
        assert told == set(names)
        assert len(set(receiver.events)) == len(names)
        assert len((await jobs.list(limit=100)).jobs) == 16
        assert await jobs.totals() == {"limit reached": 16}


async def test_a_job_whose_spider_nobody_has_says_so(crew: Crew, tmp_path: Path) -> None:
    crew.start()
    await crew.said(1, state="running")
    async with await Store.open(f"sqlite:{tmp_path}/kept.db") as store:
        jobs = Jobs(crew.frontier, store)
        job = await jobs.submit(Submission(spider="unheard-of"))

        async def hinted() -> bool:
            return "no worker has a spider unheard-of" in (await jobs.show(job.id)).hint

        await wait_until_async(hinted, timeout_s=20)
