"""A long history against a short one: python -m bench.history [--jobs N] [--quick] [STORE…]

Two stores, with 3,000 ended jobs and with 300,000, and the same number of live jobs beside each,
are asked the same questions in turn. Each question is a line of JSON with its times and ratios; the
last line has the worst ratios of each kind of store. CPU is that of this process and all servers.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
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

SHORT, LONG, LIVE = 3_000, 300_000, 30
BOUND = 2.0


async def measure(kind: str, sizes: dict[str, int], *, rounds: int) -> dict[str, Any]:
    """One kind of store; the worst ratios."""
    async with AsyncExitStack() as stack:
        try:
            place, pids = _place(kind, stack)
        except pytest.skip.Exception as missing:
            print(json.dumps({"store": kind, "skipped": str(missing)}))
            return {}
        server = stack.enter_context(ServerProcess("valkey"))
        subjects = {
            name: await _subject(stack, place(name), server.url, size, name)
            for name, size in sizes.items()
        }
        await ask_in_turn(subjects, rounds=rounds, usage=Usage([*pids, server.pid]))
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
    ids = await fill(store, size)
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
    worst_time = worst_cpu = 0.0
    for name in QUESTIONS:
        before, after = median(short.times_ms[name]), median(long.times_ms[name])
        time_ratio, cpu_ratio = after / before, long.cpu_s[name] / max(short.cpu_s[name], 1e-9)
        worst_time, worst_cpu = max(worst_time, time_ratio), max(worst_cpu, cpu_ratio)
        line = {"store": kind, "question": name, "short_ms": round(before, 3)}
        line |= {"long_ms": round(after, 3), "time_ratio": round(time_ratio, 2)}
        print(json.dumps(line | {"cpu_ratio": round(cpu_ratio, 2)}), flush=True)
    return {
        f"{kind}_worst_time_ratio": round(worst_time, 2),
        f"{kind}_worst_cpu_ratio": round(worst_cpu, 2),
        f"{kind}_within_bound": worst_cpu <= BOUND,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("stores", nargs="*", help="sqlite postgres")
    parser.add_argument("--jobs", type=int, default=LONG, help="how long the long history is")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--quick", action="store_true", help="shows that it works")
    asked = parser.parse_args()
    long, rounds = (SHORT * 2, 2) if asked.quick else (asked.jobs, asked.rounds)
    figures: dict[str, Any] = {"short": SHORT, "long": long, "bound": BOUND}
    for kind in asked.stores or ("sqlite", "postgres"):
        figures |= asyncio.run(measure(kind, {"short": SHORT, "long": long}, rounds=rounds))
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
