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
UNITS = {"ms": "cpu_ms", "pages_per_s": "pages_per_s", "server_us": "redis_us"}
"""The end of a figure's name, and the column of a run that it is the median of."""
COLUMNS = ("ms of CPU a page", "from, to", "pages/s", "µs in Redis", "MB", "load", "start-up, s")


def figures(runs: list[Run]) -> dict[str, float]:
    """For each crawler its medians, and what they say of each other."""
    names = list(dict.fromkeys(run.crawler for run in runs))
    found = {
        f"{name}_{unit}": _median(runs, name, column)
        for unit, column in UNITS.items()
        for name in names
    }
    cost = {name: found[f"{name}_ms"] for name in names}
    return found | _ratios(cost) | _growth(cost) | _memory(runs)


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
    for column in ("measured", "bound", ""):
        table.add_column(column, justify="right")
    bounds = [(name, "at least", bound) for name, bound in AT_LEAST.items()]
    bounds += [(name, "at most", bound) for name, bound in AT_MOST.items()]
    for name, way, bound in bounds:
        if name in found:
            met = found[name] >= bound if way == "at least" else found[name] <= bound
            table.add_row(
                name, f"{found[name]:.2f}", f"{way} {bound:g}", "met" if met else "missed"
            )
    return table


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
    needed = ("skitter", "skitter_two", "handmade", "handmade_two")
    if not all(name in cost for name in needed):
        return {}
    ours, by_hand = cost["skitter_two"] / cost["skitter"], cost["handmade_two"] / cost["handmade"]
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
