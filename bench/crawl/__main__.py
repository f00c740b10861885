"""python -m bench.crawl [--quick] [--rounds N] [--only NAME …]: JSON lines, a table, figures."""

from __future__ import annotations

import argparse
import json

from bench.crawl.report import figures, show
from bench.crawl.run import Run, crawl
from bench.crawl.subjects import SUBJECTS
from bench.frontier.meter import Log
from skitter.lab import LabProcess, WebSpec

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


def measure(names: list[str], *, pages: int, rounds: int, tcp: bool, log: Log) -> list[Run]:
    """Each round runs all crawlers, and begins with another one."""
    chosen = [subject for subject in SUBJECTS if subject.name in names]
    runs = []
    with LabProcess(web(pages), prerender=pages) as lab:
        for number in range(rounds):
            first = number % len(chosen)
            for subject in chosen[first:] + chosen[:first]:
                runs.append(crawl(subject, f"{lab.proxy}/", pages=pages, tcp=tcp))
                log.add("crawl", round=number + 1, **runs[-1].row())
                lab.reset()
    return runs


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.crawl")
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_PAGES} pages only")
    parser.add_argument("--pages", type=int, default=PAGES)
    parser.add_argument("--unix", action="store_true", help="Redis on a socket, not the loopback")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each crawler")
    parser.add_argument("--only", action="append", choices=NAMES, metavar="NAME",
                        help=f"one of {', '.join(NAMES)}; may be repeated")  # fmt: skip
    options = parser.parse_args()
    pages = QUICK_PAGES if options.quick else options.pages
    runs = measure(
        options.only or NAMES,
        pages=pages,
        rounds=options.rounds,
        tcp=not options.unix,
        log=Log(),
    )
    show(runs)
    print(json.dumps({"pages": pages} | {k: round(v, 3) for k, v in figures(runs).items()}))


if __name__ == "__main__":
    main()
