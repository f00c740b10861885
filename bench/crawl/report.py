"""The medians of all runs, the ratios between crawlers, and the tables that show them."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bench.crawl.run import Run

AT_LEAST = {
    "addon_vs_scrapy_redis": 1.6,
    "addon_vs_scrapy": 1.0,
    "skitter_vs_scrapy_redis": 10.0,
    "skitter_vs_scrapy": 6.0,
    "skitter_vs_crawlee": 3.0,
}
"""How many times our CPU per page a peer needs."""
AT_MOST = {
    "skitter_vs_handmade": 2.2,
    "skitter_follow_all_vs_handmade": 1.6,
    "two_workers_cpu_ratio": 1.1,
    "rss_mb": 150.0,
}
"""How many times the hand-made loop's CPU per page we need; memory of one process."""
TWO = {"skitter_two": "skitter", "handmade_two": "handmade"}
"""Two processes of a crawler, and the crawler."""
UNITS = {"ms": "cpu_ms", "pages_per_s": "pages_per_s", "server_us": "redis_us"}
"""The end of a figure's name, and the column of a run that it is the median of."""
COLUMNS = ("ms of CPU a page", "from, to", "pages/s", "µs in Redis", "MB", "load", "start-up, s")


def figures(runs: list[Run], starts: list[Run]) -> dict[str, float]:
    """For each crawler its medians, and what they say of each other.

    `_running`: the same without what starting and ending cost, which a worker of days never feels.
    """
    names = list(dict.fromkeys(run.crawler for run in runs))
    found = {
        f"{name}_{unit}": _median(runs, name, column)
        for unit, column in UNITS.items()
        for name in names
    }
    cost = {name: found[f"{name}_ms"] for name in names}
    running = _running(cost, starts, pages=runs[0].pages)
    said = {f"{name}_running": value for name, value in _compared(running).items()}
    started = {f"{run.crawler}_start_s": run.cpu_s for run in starts}
    return found | started | _compared(cost) | said | _memory(runs)


def show(runs: list[Run], found: dict[str, float]) -> None:
    """Print each crawler's medians, with the spread of its CPU, and the figures with bounds."""
    console = Console(width=120)
    table = Table("crawler", "runs", box=None)
    for column in COLUMNS:
        table.add_column(column, justify="right")
    for name in dict.fromkeys(run.crawler for run in runs):
        own = [run for run in runs if run.crawler == name]
        start = found.get(f"{name}_start_s")
        table.add_row(name, *_cells(own, name), f"{start:.2f}" if start else "")
    console.print(table)
    console.print(_bounds(found))


def _bounds(found: dict[str, float]) -> Table:
    table = Table("figure", box=None)
    for column in ("measured", "without starts", "bound", ""):
        table.add_column(column, justify="right")
    bounds = [(name, "at least", bound) for name, bound in AT_LEAST.items()]
    bounds += [(name, "at most", bound) for name, bound in AT_MOST.items()]
    for name, way, bound in bounds:
        if name in found:
            met = found[name] >= bound if way == "at least" else found[name] <= bound
            running = found.get(f"{name}_running")
            told = (f"{found[name]:.2f}", f"{running:.2f}" if running else "", f"{way} {bound:g}")
            table.add_row(name, *told, "met" if met else "missed")
    return table


def _running(cost: dict[str, float], starts: list[Run], *, pages: int) -> dict[str, float]:
    """The costs without those of as many starts as there were processes."""
    start_ms = {run.crawler: run.cpu_s / pages * 1e3 for run in starts}
    for name, alone in TWO.items():
        if alone in start_ms:
            start_ms[name] = 2 * start_ms[alone]
    return {name: cost[name] - start_ms[name] for name in cost if name in start_ms}


def _compared(cost: dict[str, float]) -> dict[str, float]:
    return _ratios(cost) | _growth(cost)


def _ratios(cost: dict[str, float]) -> dict[str, float]:
    """For peers theirs over ours; for the hand-made loop ours over its."""
    found = {}
    for name in AT_LEAST:
        ours, _, peer = name.partition("_vs_")
        if ours in cost and peer in cost:
            found[name] = cost[peer] / cost[ours]
    for ours in ("skitter", "skitter_follow_all"):
        if ours in cost and "handmade" in cost:
            found[f"{ours}_vs_handmade"] = cost[ours] / cost["handmade"]
    return found


def _growth(cost: dict[str, float]) -> dict[str, float]:
    """How much a page costs more with two processes, over how much more it does by hand."""
    if not all(name in cost for name in (*TWO, *TWO.values())):
        return {}
    ours, by_hand = (cost[two] / cost[alone] for two, alone in TWO.items())
    return {"two_workers_cpu_ratio": ours / by_hand}


def _memory(runs: list[Run]) -> dict[str, float]:
    """The most that a process of the fast engine had in any run."""
    ours = [run.memory_mb for run in runs if run.crawler.startswith("skitter")]
    return {"rss_mb": max(ours)} if ours else {}


def _cells(runs: list[Run], name: str) -> Iterable[str]:
    costs = [float(run.row()["cpu_ms"]) for run in runs]
    yield str(len(runs))
    yield f"{median(costs):.2f}"
    yield f"{min(costs):.2f}, {max(costs):.2f}"
    for column in ("pages_per_s", "redis_us", "memory_mb", "load"):
        yield f"{_median(runs, name, column):,.0f}"


def _median(runs: list[Run], name: str, column: str) -> float:
    return median(float(run.row()[column]) for run in runs if run.crawler == name)
