"""python -m bench.crawl [--quick] [--rounds N] [--only NAME …]: JSON lines, tables, figures."""

from __future__ import annotations

import argparse
import json
import sys
from compileall import compile_dir
from typing import TYPE_CHECKING

from bench.crawl.report import figures, show
from bench.crawl.run import ROOT, Run, crawl
from bench.crawl.subjects import SUBJECTS, Subject
from bench.frontier.meter import Log
from skitter.lab import LabProcess, WebSpec
from skitter.lab.graph import walk
from skitter.lab.web import Web

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

NAMES = [subject.name for subject in SUBJECTS]
PAGES, QUICK_PAGES = 5000, 500
# A pattern whose first host is the loopback's own address, so that no name has to be resolved.
LOOPBACK = "127.0.{n}.1"


def web(pages: int) -> WebSpec:
    """One host with so many pages of 15 kB and 30 links."""
    return WebSpec(
        hosts=1,
        host_pattern=LOOPBACK,
        pages=pages,
        links=30,
        local_links=1.0,
        page_bytes=15_000,
        concurrency=(64,),
    )


def urls_of(spec: WebSpec, origin: str) -> list[str]:
    """All pages, the home page first."""
    paths = (url.split("/", 3)[3] for url in walk(Web(spec)).pages)
    return [f"{origin}/{path}" for path in sorted(paths)]


def measure_starts(subjects: Sequence[Subject], log: Log) -> list[Run]:
    """A crawl of one page: nearly all of it is starting and ending."""
    spec = web(1)
    with LabProcess(spec, prerender=1) as lab:
        urls = urls_of(spec, lab.proxy)
        runs = [crawl(subject, urls) for subject in subjects]
    for run in runs:
        log.add("start", crawler=run.crawler, cpu_s=run.cpu_s, memory_mb=run.memory_mb)
    return runs


def measure(
    subjects: Sequence[Subject], log: Log, *, pages: int, rounds: int, tcp: bool
) -> list[Run]:
    """Each round runs all crawlers, and begins with another one; then some of them once more."""
    runs, spec = [], web(pages)
    with LabProcess(spec, prerender=pages) as lab:
        urls = urls_of(spec, lab.proxy)
        for number in range(rounds):
            for subject in _in_turn(subjects, number):
                runs.append(crawl(subject, urls, tcp=tcp))
                log.add("crawl", round=number + 1, **runs[-1].row())
                lab.reset()
    return runs


def _in_turn(subjects: Sequence[Subject], number: int) -> Iterator[Subject]:
    first = number % len(subjects)
    order = [*subjects[first:], *subjects[:first]]
    for time in range(max(subject.times for subject in subjects)):
        yield from (subject for subject in order if subject.times > time)


def compile_own_code() -> None:
    """pip compiles what it installs, the peers; a checkout is compiled here, wherever it runs."""
    for folder in ("src", "bench"):
        compile_dir(ROOT / folder, quiet=1)


def chosen(names: Sequence[str]) -> list[Subject]:
    """Those of the names that can be measured; tells of the others."""
    subjects = [subject for subject in SUBJECTS if subject.name in names]
    for subject in subjects:
        if subject.missing:
            print(subject.missing, file=sys.stderr)
    return [subject for subject in subjects if not subject.missing]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.crawl")
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_PAGES} pages, one round")
    parser.add_argument("--pages", type=int, default=PAGES)
    parser.add_argument("--unix", action="store_true", help="Redis on a socket, not the loopback")
    parser.add_argument("--rounds", type=int, default=3, help="how often all run")
    parser.add_argument("--only", action="append", choices=NAMES, metavar="NAME",
                        help=f"one of {', '.join(NAMES)}; may be repeated")  # fmt: skip
    options = parser.parse_args()
    compile_own_code()
    pages = QUICK_PAGES if options.quick else options.pages
    subjects, log = chosen(options.only or NAMES), Log()
    starts = measure_starts([subject for subject in subjects if subject.copies == 1], log)
    runs = measure(
        subjects,
        log,
        pages=pages,
        rounds=1 if options.quick else options.rounds,
        tcp=not options.unix,
    )
    found = figures(runs, starts)
    show(runs, found)
    print(json.dumps({"pages": pages} | {k: round(v, 3) for k, v in found.items()}))


if __name__ == "__main__":
    main()
