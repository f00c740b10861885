"""python -m bench.memory [--quick] [--only NAME …]: JSON lines, and the figures as one object."""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass

from bench.frontier.meter import Log
from bench.memory.watch import Watched, watch
from skitter.lab import WebSpec

SMALL_BYTES, BIG_BYTES = 1_000, 10_000_000
SQLITE, SLOW = "sqlite:items.db", "slow:nowhere"
CONCURRENCY = (16,)


@dataclass(frozen=True)
class Trial:
    """A crawl to be watched: hosts and pages of each, the fewer ones for --quick."""

    hosts: int
    pages: int
    quick_pages: int
    page_bytes: int = SMALL_BYTES
    sink: str = SQLITE
    items: int = 1
    dead: int = 0
    waiting: bool = False

    def run(self, *, quick: bool) -> Watched:
        spec = WebSpec(
            hosts=self.hosts,
            pages=self.quick_pages if quick else self.pages,
            links=8,
            page_bytes=self.page_bytes,
            concurrency=CONCURRENCY,
        )
        return watch(
            spec,
            sink=self.sink,
            items=self.items,
            dead=self.dead // 20 if quick else self.dead,
            waiting=self.waiting,
            prerender=self.page_bytes == SMALL_BYTES,
        )


TRIALS = {
    "flat": Trial(hosts=200, pages=1000, quick_pages=50),
    # More items than the sink takes: 250 pages or 5,000 items go in one put.
    "slow_sink": Trial(hosts=20, pages=500, quick_pages=50, sink=SLOW, items=200),
    "big_pages": Trial(hosts=4, pages=75, quick_pages=15, page_bytes=BIG_BYTES),
    "big_pages_waiting": Trial(
        hosts=16, pages=20, quick_pages=6, page_bytes=BIG_BYTES, waiting=True
    ),
    "dead_hosts": Trial(hosts=20, pages=500, quick_pages=50, dead=100_000),
}


def figures(done: dict[str, Watched]) -> dict[str, float]:
    """The figures of all trials that were made."""
    found: dict[str, float] = {}
    if flat := done.get("flat"):
        found["pages"] = flat.pages
        found["rss_growth_mb"] = flat.last_mb - flat.first_mb
        found["rss_max_mb"] = flat.max_mb
    found |= {f"rss_{name}_mb": one.max_mb for name, one in done.items() if name != "flat"}
    return {name: round(value, 1) for name, value in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.memory")
    parser.add_argument("--quick", action="store_true", help="10,000 pages, and fewer of the rest")
    parser.add_argument("--only", action="append", choices=[*TRIALS], metavar="NAME",
                        help=f"one of {', '.join(TRIALS)}; may be repeated")  # fmt: skip
    options = parser.parse_args()
    log, done = Log(), {}
    for name in options.only or TRIALS:
        done[name] = TRIALS[name].run(quick=options.quick)
        log.add(name, **done[name].row())
    print(json.dumps(figures(done)))


if __name__ == "__main__":
    main()
