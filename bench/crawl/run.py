"""One crawl by one crawler: its CPU, its time, and whether it got every page."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bench.frontier.meter import Meter
from tests.servers import ServerProcess
from tests.servers.programs import die_with_parent

if TYPE_CHECKING:
    from bench.crawl.subjects import Subject

ROOT = Path(__file__).parents[2]
SECONDS_PER_PAGE = 0.2
LOG = "crawl.log"


@dataclass(frozen=True)
class Run:
    """What a crawl cost, in all."""

    crawler: str
    pages: int
    cpu_s: float
    wall_s: float
    redis_s: float
    memory_mb: float

    def row(self) -> dict[str, float | int | str]:
        return {
            "crawler": self.crawler,
            "pages": self.pages,
            "cpu_ms": self.cpu_s / self.pages * 1e3,
            "pages_per_s": self.pages / self.wall_s,
            "redis_us": self.redis_s / self.pages * 1e6,
            "memory_mb": self.memory_mb,
        }


def crawl(subject: Subject, url: str, *, pages: int, tcp: bool = True) -> Run:
    """Crawl on an empty server, in an empty folder; fails if a page is missing."""
    with (
        tempfile.TemporaryDirectory(prefix="skitter-bench-") as name,
        ServerProcess("valkey", tcp=tcp, options={"appendonly": "no"}) as server,
    ):
        folder, meter = Path(name), Meter(server)
        redis_s, began_s = meter.cpu_s(), time.monotonic()
        usage = _run(subject, folder, command(subject, url, server.url), server.url, pages=pages)
        wall_s, redis_s = time.monotonic() - began_s, meter.cpu_s() - redis_s
        meter.close()
        _check(subject, folder, pages=pages)
    cpu_s = usage.ru_utime + usage.ru_stime
    return Run(subject.name, pages, cpu_s, wall_s, redis_s, usage.ru_maxrss / 1024)


def command(subject: Subject, url: str, server: str) -> list[str]:
    """The command line of a crawl."""
    words = [sys.executable, "-m", "scrapy", "crawl", "pages", "-a", f"url={url}"]
    for name, value in subject.settings.items():
        words += ["-s", f"{name}={value.replace('{server}', server)}"]
    return words


def environment(subject: Subject, server: str) -> dict[str, str]:
    """The variables of a crawl; those of Skitter and Scrapy around it do not count."""
    own = {"PYTHONPATH": str(ROOT), "SCRAPY_SETTINGS_MODULE": "bench.crawl.project"}
    own |= {key: value.replace("{server}", server) for key, value in subject.environment.items()}
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("SKITTER_", "SCRAPY_"))}
    return inherited | own


def _run(
    subject: Subject, folder: Path, words: list[str], server: str, *, pages: int
) -> resource.struct_rusage:
    """Run the command to its end; what it used is known when the kernel lets go of it."""
    with (folder / LOG).open("wb") as log:
        process = subprocess.Popen(
            words,
            cwd=folder,
            env=environment(subject, server),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            preexec_fn=die_with_parent,  # noqa: PLW1509 - one call to the kernel
        )
        alarm = threading.Timer(60 + pages * SECONDS_PER_PAGE, process.kill)
        alarm.start()
        try:
            _, status, usage = os.wait4(process.pid, 0)
        finally:
            alarm.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{subject.name} ended with {process.returncode}:\n{_tail(folder)}")
    return usage


def _check(subject: Subject, folder: Path, *, pages: int) -> None:
    found = subject.items(folder)
    if found != pages:
        raise SystemExit(f"{subject.name} has {found} items of {pages} pages:\n{_tail(folder)}")


def _tail(folder: Path) -> str:
    return (folder / LOG).read_text(errors="replace")[-5000:]
