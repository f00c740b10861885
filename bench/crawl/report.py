"""The medians of all runs, the ratios between crawlers, and the table that shows them."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bench.crawl.run import Run

AT_LEAST = {"addon_vs_scrapy_redis": 1.6, "addon_vs_scrapy": 1.0}
UNITS = {"ms": "cpu_ms", "pages_per_s": "pages_per_s", "server_us": "redis_us"}
"""The end of a figure's name, and the column of a run that it is the median of."""


def figures(runs: list[Run]) -> dict[str, float]:
    """For each crawler its medians, and how many times our CPU per page each peer needs."""
    names = list(dict.fromkeys(run.crawler for run in runs))
    found = {
        f"{name}_{unit}": _median(runs, name, column)
        for unit, column in UNITS.items()
        for name in names
    }
    for peer in ("scrapy_redis", "scrapy"):
        if "addon" in names and peer in names:
            found[f"addon_vs_{peer}"] = found[f"{peer}_ms"] / found["addon_ms"]
    return found


def show(runs: list[Run]) -> None:
    """Print each crawler's medians, with the spread of its CPU, and the bounds."""
    console = Console(width=120)
    table = Table("crawler", "runs", box=None)
    for column in ("ms of CPU a page", "from, to", "pages/s", "µs in Redis a page", "MB"):
        table.add_column(column, justify="right")
    for name in dict.fromkeys(run.crawler for run in runs):
        table.add_row(name, *_cells([run for run in runs if run.crawler == name], name))
    console.print(table)
    for name, bound in AT_LEAST.items():
        value = figures(runs).get(name)
        if value is not None:
            verdict = "met" if value >= bound else "missed"
            console.print(f"{name} {value:.2f}, at least {bound:g}: {verdict}")


def _cells(runs: list[Run], name: str) -> Iterable[str]:
    costs = [float(run.row()["cpu_ms"]) for run in runs]
    yield str(len(runs))
    yield f"{median(costs):.2f}"
    yield f"{min(costs):.2f}, {max(costs):.2f}"
    for column in ("pages_per_s", "redis_us", "memory_mb"):
        yield f"{_median(runs, name, column):,.0f}"


def _median(runs: list[Run], name: str, column: str) -> float:
    return median(float(run.row()[column]) for run in runs if run.crawler == name)
