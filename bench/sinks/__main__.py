"""Items a second, and CPU for each item, of every sink: python -m bench.sinks [--items N] [NAME…]

Each sink runs in a process of its own and is put batches of equal size by a few tasks at a time, as
a worker does. Times include the sync to the disk; CPU is that of the process which puts, servers
aside. Each measurement is a line of JSON; the last line has one figure for each sink.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.servers import ServerProcess
from tests.servers.mongo import MongoProcess
from tests.servers.postgres import PostgresProcess

if TYPE_CHECKING:
    from collections.abc import Callable

ITEMS = 100_000
# The server is a stand-in for MongoDB, and far slower than it.
FEWER = {"mongo": 100}
FIGURES = ("sqlite", "jsonl", "postgres", "mongo", "redis")


def place_of(name: str, stack: ExitStack) -> str:
    """Start what a sink needs; its URL."""
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="skitter-bench-")))
    places: dict[str, Callable[[], str]] = {
        "sqlite": lambda: f"sqlite:{folder / 'items.db'}",
        "jsonl": lambda: f"jsonl:{folder}",
        "postgres": lambda: stack.enter_context(PostgresProcess()).url,
        "mongo": lambda: stack.enter_context(MongoProcess()).url,
        "redis": lambda: f"{stack.enter_context(ServerProcess('valkey')).url}?stream=items",
    }
    return places[name]()


def measure(name: str, items: int) -> dict[str, Any]:
    """One sink's figures, or the reason that there are none."""
    with ExitStack() as stack:
        try:
            url = place_of(name, stack)
        except pytest.skip.Exception as missing:
            return {"sink": name, "skipped": str(missing)}
        command = [sys.executable, "-m", "bench.sinks.putting", url, str(items)]
        done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=600)
        return {"sink": name, **json.loads(done.stdout)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help=" ".join(FIGURES))
    parser.add_argument("--items", type=int, default=ITEMS)
    asked = parser.parse_args()
    figures: dict[str, float | None] = {}
    for name in asked.names or FIGURES:
        found = measure(name, asked.items // FEWER.get(name, 1))
        print(json.dumps(found), flush=True)
        figures[f"{name}_items_per_s"] = found.get("items_per_s")
        figures[f"{name}_cpu_us_per_item"] = found.get("cpu_us_per_item")
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
