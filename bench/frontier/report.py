"""The table of all measurements, and the figures against what the project promises."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from bench.frontier.meter import Figures

AT_MOST = {
    "client_us_per_add": 40.0,
    "redis_us_per_add": 15.0,
    "redis_us_per_add_even_hosts": 15.0,
    "valkey_us_per_add": 15.0,
    "valkey_us_per_add_even_hosts": 15.0,
    "redis_us_per_add_1e6_hosts": 25.0,
    "redis_us_per_add_1e6_even_hosts": 25.0,
    "redis_us_per_request": 80.0,
    "valkey_us_per_request": 80.0,
    "bytes_per_seen_url": 12.0,
    "bytes_per_seen_url_redis7": 12.0,
    "bytes_per_pending_url_over_length": 60.0,
    "bytes_per_pending_url_over_length_redis7": 60.0,
    "bytes_per_idle_host": 200.0,
    "bytes_per_idle_host_redis7": 200.0,
    "bytes_per_active_host": 400.0,
    "bytes_per_active_host_redis7": 600.0,
    "lease_cost_1e6_vs_1e3": 1.5,
    "redelivery_p99_s": 4.0,
    "redelivery_reported_p99_s": 1.0,
    "stop_1e6_ms": 50.0,
}
AT_LEAST = {"add_urls_per_s": 20_000.0, "lease_settle_per_s": 3000.0}


def show(lines: list[dict[str, Any]], figures: Figures) -> None:
    """Print what was measured, then the figures with their bounds."""
    console = Console(width=150)
    table = Table("measurement", "case", "result", box=None)
    for line in lines:
        values = {name: value for name, value in line.items() if name != "measurement"}
        case = {name: value for name, value in values.items() if not isinstance(value, float)}
        result = {name: value for name, value in values.items() if isinstance(value, float)}
        table.add_row(line["measurement"], _text(case), _text(result))
    console.print(table)
    bounds = Table("figure", "measured", "bound", "", box=None)
    for name, value in figures.items():
        bounds.add_row(name, f"{value:,.2f}", _bound(name), _verdict(name, value))
    console.print(bounds)


def _text(values: dict[str, Any]) -> str:
    return ", ".join(f"{name} {_number(value)}" for name, value in values.items())


def _number(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    return f"{value:,.0f}" if isinstance(value, int) or abs(value) >= 1000 else f"{value:.3g}"


def _bound(name: str) -> str:
    if name in AT_MOST:
        return f"≤ {AT_MOST[name]:,g}"
    return f"≥ {AT_LEAST[name]:,g}" if name in AT_LEAST else ""


def _verdict(name: str, value: float) -> str:
    if value > AT_MOST.get(name, value) or value < AT_LEAST.get(name, value):
        return "missed"
    return "met" if _bound(name) else ""
