"""python -m bench.sinks [--items N] [--quick] [PART…]: JSON lines, and all figures as the last one.

A part is a sink (sqlite, jsonl, postgres, mongo, redis), `crawl` (what storing one item a page adds
to a crawl's CPU), or `export` (a million items to Parquet and CSV, and back). Each sink runs in a
process of its own and is put batches of equal size by a few tasks at a time, as a worker does.
Times include the sync to the disk; CPU is that of the process which puts, and the server's beside.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from bench.sinks.exporting import measure_export
from bench.sinks.overhead import measure_overhead
from tests.servers import ServerProcess
from tests.servers.mongo import MongoProcess
from tests.servers.postgres import PostgresProcess

if TYPE_CHECKING:
    from collections.abc import Callable

ITEMS, ROUNDS, PAGES, EXPORTED = 100_000, 3, 3_000, 1_000_000
QUICK = 10
# The server is a stand-in for MongoDB, and far slower than it.
FEWER = {"mongo": 50}
SINKS = ("sqlite", "jsonl", "postgres", "mongo", "redis")
PARTS = (*SINKS, "crawl", "export")
AT_LEAST = {
    "postgres_items_per_s": 20_000,
    "sqlite_items_per_s": 30_000,
    "jsonl_items_per_s": 100_000,
}
AT_MOST = {"crawl_cpu_overhead": 0.10, "export_rss_mb": 200}


@dataclass(frozen=True)
class Place:
    """Where a sink stores: its URL, and the process of its server, if it has one."""

    url: str
    pid: int | None = None

    def cpu_s(self) -> float:
        """The CPU of the server with its children, those that have ended too."""
        if self.pid is None:
            return 0.0
        server = psutil.Process(self.pid)
        times = [one.cpu_times() for one in (server, *server.children(recursive=True))]
        gone = times[0].children_user + times[0].children_system
        return float(gone + sum(one.user + one.system for one in times))


def place_of(name: str, stack: ExitStack) -> Place:
    """Start what a sink needs."""
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="skitter-bench-")))
    places: dict[str, Callable[[], Place]] = {
        "sqlite": lambda: Place(f"sqlite:{folder / 'items.db'}"),
        "jsonl": lambda: Place(f"jsonl:{folder}"),
        "postgres": lambda: _on(stack.enter_context(PostgresProcess())),
        "mongo": lambda: _on(stack.enter_context(MongoProcess())),
        "redis": lambda: _on(stack.enter_context(ServerProcess("valkey")), "?stream=items"),
    }
    return places[name]()


def _on(server: PostgresProcess | MongoProcess | ServerProcess, query: str = "") -> Place:
    return Place(f"{server.url}{query}", server.pid)


def measure(name: str, items: int) -> dict[str, Any]:
    """One sink's figures, or the reason that there are none."""
    with ExitStack() as stack:
        try:
            place = place_of(name, stack)
        except pytest.skip.Exception as missing:
            return {"sink": name, "skipped": str(missing)}
        before_s = place.cpu_s()
        command = [sys.executable, "-m", "bench.sinks.putting", place.url, str(items)]
        done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=600)
        found = {"sink": name, **json.loads(done.stdout)}
        if place.pid is not None:
            found["server_cpu_us_per_item"] = round((place.cpu_s() - before_s) / items * 1e6, 1)
        return found


def measure_sink(name: str, items: int, rounds: int) -> dict[str, Any]:
    """The medians of several rounds, each on an empty sink."""
    runs = []
    for _ in range(rounds):
        runs.append(measure(name, items))
        print(json.dumps(runs[-1]), flush=True)
    named = ("items_per_s", "cpu_us_per_item", "server_cpu_us_per_item")
    return {
        f"{name}_{figure}": median(run[figure] for run in runs)
        for figure in named
        if all(figure in run for run in runs)
    } or {f"{name}_items_per_s": None}


def tell_bounds(figures: dict[str, Any]) -> None:
    """Say what is missed, on stderr: the machine may have been busy."""
    for name, bound in AT_LEAST.items():
        if (figures.get(name) or bound) < bound:
            print(f"missed: {name} is {figures[name]}, not {bound} or more", file=sys.stderr)
    for name, most in AT_MOST.items():
        if (figures.get(name) or 0) > most:
            print(f"missed: {name} is {figures[name]}, not {most} or less", file=sys.stderr)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.sinks")
    parser.add_argument("parts", nargs="*", help=f"of {' '.join(PARTS)}; all unless named")
    parser.add_argument("--items", type=int, default=ITEMS)
    parser.add_argument("--exported", type=int, default=EXPORTED)
    parser.add_argument("--pages", type=int, default=PAGES)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--quick", action="store_true", help="a tenth of all, one round")
    asked = parser.parse_args()
    less, rounds = (QUICK, 1) if asked.quick else (1, asked.rounds)
    figures: dict[str, Any] = {}
    for part in asked.parts or PARTS:
        if part in SINKS:
            count = asked.items // less // FEWER.get(part, 1)
            figures |= measure_sink(part, count, rounds)
        elif part == "crawl":
            figures |= measure_overhead(pages=asked.pages // less, rounds=rounds)
        elif part == "export":
            figures |= measure_export(asked.exported // less)
        else:
            parser.error(f"{part} is none of {', '.join(PARTS)}")
    tell_bounds(figures)
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
