"""Runs a crawl in a process of its own, and keeps what it tells of its memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from skitter.lab import LabProcess
from tests.servers import ServerProcess
from tests.servers.programs import die_with_parent

if TYPE_CHECKING:
    from skitter.lab import WebSpec

ROOT = Path(__file__).parents[2]
# A name that no resolver takes, so that nobody outside of this machine is asked for it.
NOWHERE = "*.nowhere=-.invalid"
QUARTER = 0.25


@dataclass(frozen=True)
class Watched:
    """A crawl that is over: its samples, as pages so far (those of dead hosts too) and MB."""

    pages: int
    seconds: float
    samples: list[tuple[int, float]]

    @property
    def max_mb(self) -> float:
        return max(mb for _, mb in self.samples)

    @property
    def first_mb(self) -> float:
        """The median of the first quarter of the pages, once there were any."""
        return median(mb for seen, mb in self.samples if 0 < seen <= self.pages * QUARTER)

    @property
    def last_mb(self) -> float:
        """The median of the last quarter."""
        return median(mb for seen, mb in self.samples if seen >= self.pages * (1 - QUARTER))

    @property
    def tenths_mb(self) -> list[float]:
        """The most in each tenth of the pages, to see where it grows; 0 where no sample fell."""
        most = [0.0] * 10
        for seen, mb in self.samples:
            tenth = min(9, seen * 10 // self.pages)
            most[tenth] = max(most[tenth], round(mb, 1))
        return most

    def row(self) -> dict[str, Any]:
        return {
            "pages": self.pages,
            "pages_per_s": self.pages / self.seconds,
            "first_quarter_mb": self.first_mb,
            "last_quarter_mb": self.last_mb,
            "max_mb": self.max_mb,
            "tenths_mb": self.tenths_mb,
        }


def watch(
    spec: WebSpec,
    *,
    sink: str,
    items: int = 1,
    dead: int = 0,
    waiting: bool = False,
    prerender: bool = True,
) -> Watched:
    """Crawl a web to its end, and so many dead hosts; fails if a page is missing."""
    pages = spec.hosts * spec.pages
    with (
        tempfile.TemporaryDirectory(prefix="skitter-bench-") as folder,
        LabProcess(spec, prerender=pages if prerender else 0) as lab,
        ServerProcess("valkey", options={"appendonly": "no"}) as server,
    ):
        skitter = {
            "redis.url": server.url,
            "items.sink": sink,
            "fetch.resolve": [lab.rule, NOWHERE],
            "retry.max_attempts": 2,
            "politeness.delay_s": 0,
            "politeness.latency_factor": 0,
            "politeness.concurrency": min(spec.concurrency),
        }
        args = {"url": lab.url(0), "items": str(items), "dead": str(dead)}
        began = time.monotonic()
        samples = _run({"skitter": skitter, "args": args, "waiting": waiting}, folder)
        seconds = time.monotonic() - began
    if samples[-1][0] != pages + dead:
        raise SystemExit(f"{samples[-1][0]} pages of {pages + dead} were crawled")
    return Watched(pages + dead, seconds, samples)


def _run(orders: dict[str, Any], folder: str) -> list[tuple[int, float]]:
    words = [sys.executable, "-m", "bench.memory.crawler", json.dumps(orders)]
    with subprocess.Popen(
        words,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=die_with_parent,  # noqa: PLW1509 - one call to the kernel
        cwd=folder,
        env=_environment(),
    ) as process:
        assert process.stdout
        samples = [_sample(line) for line in process.stdout if line.startswith("{")]
    if process.returncode:
        raise SystemExit(f"the crawl ended with {process.returncode}")
    return samples


def _environment() -> dict[str, str]:
    """Settings around the crawl do not count."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("SKITTER_", "SCRAPY_"))}
    return kept | {"PYTHONPATH": str(ROOT)}


def _sample(line: str) -> tuple[int, float]:
    told = json.loads(line)
    return told["pages"], told["rss_mb"]
