"""One crawl by one crawler: its CPU, its time, its memory, and whether it got every page."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bench.crawl.ordered import Order
from bench.frontier.meter import Meter
from tests.servers import ServerProcess
from tests.servers.programs import die_with_parent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench.crawl.subjects import Subject

ROOT = Path(__file__).parents[2]
SECONDS_PER_PAGE = 0.2
LOG = "crawl.log"


@dataclass(frozen=True)
class Run:
    """What a crawl cost: CPU in all, memory of the process that took most. load: the machine's."""

    crawler: str
    pages: int
    cpu_s: float
    wall_s: float
    redis_s: float
    memory_mb: float
    load: float

    def row(self) -> dict[str, float | int | str]:
        return {
            "crawler": self.crawler,
            "pages": self.pages,
            "cpu_ms": self.cpu_s / self.pages * 1e3,
            "pages_per_s": self.pages / self.wall_s,
            "redis_us": self.redis_s / self.pages * 1e6,
            "memory_mb": self.memory_mb,
            "load": self.load,
        }


def crawl(subject: Subject, urls: Sequence[str], *, tcp: bool = True) -> Run:
    """Crawl on an empty server, in empty folders; fails if a page is missing.

    urls: all pages, and first the one from which the others are found.
    """
    with (
        tempfile.TemporaryDirectory(prefix="skitter-bench-") as name,
        ServerProcess("valkey", tcp=tcp, options={"appendonly": "no"}) as server,
    ):
        folders, meter = _folders(Path(name), subject, urls), Meter(server)
        redis_s, began_s = meter.cpu_s(), time.monotonic()
        words = command(subject, urls[0], server.url)
        used = _run(words, folders, environment(subject, server.url), timeout_s=_timeout_s(urls))
        wall_s, redis_s = time.monotonic() - began_s, meter.cpu_s() - redis_s
        meter.close()
        _check(subject, folders, expected=len(urls))
    return Run(
        subject.name,
        len(urls),
        sum(one.ru_utime + one.ru_stime for one in used),
        wall_s,
        redis_s,
        max(one.ru_maxrss for one in used) / 1024,
        os.getloadavg()[0],
    )


def command(subject: Subject, url: str, server: str) -> list[str]:
    """The command line of a crawl."""
    words = [sys.executable, "-m", subject.module, "crawl", subject.spider, "-a", f"url={url}"]
    for name, value in subject.settings.items():
        words += ["-s", f"{name}={value.replace('{server}', server)}"]
    return words


def environment(subject: Subject, server: str) -> dict[str, str]:
    """The variables of a crawl; those of Skitter and Scrapy around it do not count."""
    own = {"PYTHONPATH": str(ROOT), "SCRAPY_SETTINGS_MODULE": "bench.crawl.project"}
    own |= {key: value.replace("{server}", server) for key, value in subject.environment.items()}
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("SKITTER_", "SCRAPY_"))}
    return inherited | own


def _timeout_s(urls: Sequence[str]) -> float:
    return 60 + len(urls) * SECONDS_PER_PAGE


def _folders(root: Path, subject: Subject, urls: Sequence[str]) -> list[Path]:
    """One for each copy, with its order: all begin with one page if there is one copy only."""
    folders = [root / str(number) for number in range(subject.copies)]
    for number, folder in enumerate(folders):
        folder.mkdir()
        if subject.copies == 1:
            Order(urls=[urls[0]], all_urls=[urls[0]]).write(folder)
        else:
            Order(urls=[*urls[number :: subject.copies]], all_urls=[*urls]).write(folder)
    return folders


def _run(
    words: list[str], folders: list[Path], variables: dict[str, str], *, timeout_s: float
) -> list[resource.struct_rusage]:
    """Run the command in all folders at once, to the end of all."""
    with ExitStack() as stack:
        processes = []
        for folder in folders:
            log = stack.enter_context((folder / LOG).open("wb"))
            process = subprocess.Popen(
                words,
                cwd=folder,
                env=variables,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                preexec_fn=die_with_parent,  # noqa: PLW1509 - one call to the kernel
            )
            alarm = threading.Timer(timeout_s, process.kill)
            alarm.start()
            stack.callback(alarm.cancel)
            processes.append(process)
        return [_ended(*both) for both in zip(processes, folders, strict=True)]


def _ended(process: subprocess.Popen[bytes], folder: Path) -> resource.struct_rusage:
    """What it used is known when the kernel lets go of it."""
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{process.args!r} ended with {process.returncode}:\n{_tail(folder)}")
    return used


def _check(subject: Subject, folders: list[Path], *, expected: int) -> None:
    found = len(set[str]().union(*map(subject.items, folders)))
    if found != expected:
        logs = "\n".join(map(_tail, folders))
        raise SystemExit(f"{subject.name} has items of {found} pages, not {expected}:\n{logs}")


def _tail(folder: Path) -> str:
    return (folder / LOG).read_text(errors="replace")[-5000:]
