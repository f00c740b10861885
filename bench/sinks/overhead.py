"""What storing one item for each page adds to a crawl's CPU: the same crawl with a null sink."""

from __future__ import annotations

from statistics import median
from typing import Any

from bench.crawl.__main__ import measure, measure_starts
from bench.crawl.subjects import DATABASE, Subject, in_lines, in_rows
from bench.frontier.meter import Log

_MODULE = "bench.sinks.crawling"
_SERVER = {"SKITTER_REDIS__URL": "{server}"}
_JOB = {"SKITTER_JOB": "bench"}
_OFTEN = 5  # in each round: they are near each other, and runs differ by more
SUBJECTS = tuple(
    Subject(name, items, _JOB, _SERVER | {"SKITTER_ITEMS__SINK": sink}, _MODULE, times=_OFTEN)
    for name, items, sink in (
        ("null", in_lines, "null:nowhere"),
        ("sqlite", in_rows, f"sqlite:{DATABASE}"),
    )
)


def measure_overhead(*, pages: int, rounds: int) -> dict[str, Any]:
    """Both crawls in turn, without what starting and ending cost; the share that SQLite adds."""
    log = Log()
    starts = {run.crawler: run.cpu_s for run in measure_starts(SUBJECTS, log)}
    runs = measure(SUBJECTS, log, pages=pages, rounds=rounds, tcp=True)
    cpu_us = {
        name: (median(run.cpu_s for run in runs if run.crawler == name) - start_s) / pages * 1e6
        for name, start_s in starts.items()
    }
    return {
        "crawl_null_cpu_us_per_page": round(cpu_us["null"], 1),
        "crawl_sqlite_cpu_us_per_page": round(cpu_us["sqlite"], 1),
        "crawl_cpu_overhead": round(cpu_us["sqlite"] / cpu_us["null"] - 1, 4),
    }
