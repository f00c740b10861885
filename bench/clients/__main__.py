"""python -m bench.clients [--pages N] [--rounds N]: JSON lines, a table, and the medians."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from importlib.util import find_spec
from statistics import median
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from collections.abc import Iterator

CLIENTS = ("aiohttp", "pyreqwest", "wreq", "curl_cffi", "pycurl")
HABITS = (
    "headers_exact",
    "url_exact",
    "all_cookies",
    "header_case",
    "no_redirect",
    "sends_once",
    "bounded",
    "cancelled",
)
TIMEOUT_S = 300


@contextmanager
def server(*, tls: bool) -> Iterator[str]:
    """The origin of a server that runs meanwhile."""
    with tempfile.TemporaryDirectory(prefix="skitter-bench-") as folder:
        words = [sys.executable, "-m", "bench.clients.server", folder, *(["--tls"] if tls else [])]
        process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        try:
            assert process.stdout is not None
            yield f"{'https' if tls else 'http'}://127.0.0.1:{int(process.stdout.readline())}"
        finally:
            process.terminate()
            process.wait()


def run(name: str, *, pages: int, tls: bool) -> dict[str, Any]:
    """One client against a server of its own."""
    with server(tls=tls) as origin:
        words = [sys.executable, "-m", "bench.clients.measure", name, origin, str(pages)]
        done = subprocess.run(
            words, stdout=subprocess.PIPE, text=True, check=True, timeout=TIMEOUT_S
        )
    row: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    print(json.dumps(row), flush=True)
    return row


def show(rows: list[dict[str, Any]]) -> dict[str, float]:
    """The table; the medians by client and by plain or TLS."""
    table = Table("client", "plain, ms", "TLS, ms", *HABITS)
    found: dict[str, float] = {}
    for name in dict.fromkeys(row["client"] for row in rows):
        own = [row for row in rows if row["client"] == name]
        for kind, tls in (("plain", False), ("tls", True)):
            costs = [row["cpu_ms"] for row in own if row["tls"] is tls]
            found[f"{name}_{kind}_ms"] = round(median(costs), 3)
        habits = [_told([row[habit] for row in own]) for habit in HABITS]
        costs = [f"{found[f'{name}_{kind}_ms']:.3f}" for kind in ("plain", "tls")]
        table.add_row(name, *costs, *habits)
    Console(width=150).print(table)
    return found


def _told(answers: list[object]) -> str:
    wrong = [str(answer) for answer in answers if answer is not True]
    return wrong[0] if wrong else "yes"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.clients")
    parser.add_argument("--pages", type=int, default=3000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", action="append", choices=CLIENTS)
    options = parser.parse_args()
    there = [name for name in options.only or CLIENTS if find_spec(name)]
    for name in sorted(set(options.only or CLIENTS) - set(there)):
        print(f"{name} is left out: pip install {name}", file=sys.stderr)
    rows = [
        run(name, pages=options.pages, tls=tls)
        for _ in range(options.rounds)
        for name in there
        for tls in (False, True)
    ]
    print(json.dumps(show(rows)))


if __name__ == "__main__":
    main()
