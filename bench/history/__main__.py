"""A long history against a short one: python -m bench.history [--jobs N] [--quick] [STORE…]

Two stores, with 3,000 ended jobs and with 300,000, and the same number of live jobs beside each,
are asked the same questions in turn. Each question is a line of JSON with medians of its times and
CPU and their ratios; the last line has the worst ratio of each kind of store. What is held against
the bound is CPU, of this process and all servers: what else a machine does bears on it less.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import time
from contextlib import AsyncExitStack, ExitStack
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import pytest

from bench.history.asking import QUESTIONS, Subject, ask_in_turn
from bench.history.making import fill
from bench.history.usage import Usage
from skitter.frontier import Config, Frontier
from skitter.jobs.listing import cursor_of
from skitter.jobs.service import Jobs
from skitter.jobs.submission import Submission
from skitter.store import Store
from tests.servers import ServerProcess
from tests.servers.postgres import PostgresProcess
from tests.stores import database_url

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.history.asking import Question

SHORT, LONG, LIVE = 3_000, 300_000, 30
BOUND = 2.0


async def measure(
    kind: str, sizes: dict[str, int], questions: dict[str, Question], *, rounds: int
) -> dict[str, Any]:
    """One kind of store; the worst ratio."""
    async with AsyncExitStack() as stack:
        try:
            place, pids = _place(kind, stack)
        except pytest.skip.Exception as missing:
            print(json.dumps({"store": kind, "skipped": str(missing)}))
            return {}
        server = stack.enter_context(ServerProcess("valkey"))
        begun = time.monotonic()
        subjects = {
            name: await _subject(stack, place(name), server.url, size, name)
            for name, size in sizes.items()
        }
        print(json.dumps({"store": kind, "fill_s": round(time.monotonic() - begun)}), flush=True)
        usage = Usage([*pids, server.pid])
        await ask_in_turn(subjects, questions, rounds=rounds, usage=usage)
    return _report(kind, subjects)


def _place(kind: str, stack: AsyncExitStack) -> tuple[Callable[[str], str], list[int]]:
    """URLs of new stores by name, and the processes of their servers."""
    inner = stack.enter_context(ExitStack())
    if kind == "sqlite":
        folder = Path(inner.enter_context(tempfile.TemporaryDirectory(prefix="skitter-bench-")))
        return lambda name: f"sqlite:{folder / name}.db", []
    server = inner.enter_context(PostgresProcess())
    return lambda _: database_url(server), [server.pid]


async def _subject(
    stack: AsyncExitStack, url: str, server_url: str, size: int, name: str
) -> Subject:
    store = await stack.enter_async_context(await Store.open(url))
    ids = await fill(store, url, size)
    frontier = await stack.enter_async_context(
        await Frontier.connect(server_url, worker="bench", namespace=name, config=Config())
    )
    jobs = Jobs(frontier, store)
    live = [(await jobs.submit(Submission(spider="live"))).id for _ in range(LIVE)]
    subject = Subject(jobs, frontier, ids, live)
    subject.deep = cursor_of(await jobs.show(ids[len(ids) // 2]))
    return subject


def _report(kind: str, subjects: dict[str, Subject]) -> dict[str, Any]:
    short, long = subjects["short"], subjects["long"]
    ratios = {}
    for name in short.cpu_ms:
        line: dict[str, Any] = {"store": kind, "question": name}
        for unit in ("times_ms", "cpu_ms"):
            before, after = (median(getattr(each, unit)[name]) for each in (short, long))
            line |= {f"short_{unit}": round(before, 3), f"long_{unit}": round(after, 3)}
            line[f"{unit}_ratio"] = round(after / before, 2)
        ratios[name] = line["cpu_ms_ratio"]
        print(json.dumps(line), flush=True)
    worst = max(ratios, key=lambda name: ratios[name])
    return {
        f"{kind}_worst": worst,
        f"{kind}_worst_cpu_ratio": ratios[worst],
        f"{kind}_median_cpu_ratio": round(median(ratios.values()), 2),
        f"{kind}_within_bound": ratios[worst] <= BOUND,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("stores", nargs="*", help="sqlite postgres")
    parser.add_argument("--jobs", type=int, default=LONG, help="how long the long history is")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--only", default="", help="questions with this in their name")
    parser.add_argument("--quick", action="store_true", help="shows that it works")
    asked = parser.parse_args()
    long, rounds = (SHORT * 2, 2) if asked.quick else (asked.jobs, asked.rounds)
    questions = {name: asking for name, asking in QUESTIONS.items() if asked.only in name}
    figures: dict[str, Any] = {"short": SHORT, "long": long, "bound": BOUND}
    for kind in asked.stores or ("sqlite", "postgres"):
        measuring = measure(kind, {"short": SHORT, "long": long}, questions, rounds=rounds)
        figures |= asyncio.run(measuring)
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
