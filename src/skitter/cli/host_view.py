"""How a host looks in the terminal, and the pace that its state comes to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from skitter.frontier.hosts import HostState
    from skitter.frontier.policy import Config


def pace_ms(state: HostState, config: Config) -> int:
    """The delay before the next request, as the frontier reckons it (host.lua, delay_of)."""
    floor = next(
        said for said in (state.delay_ms, state.job_delay_ms, config.delay_ms) if said is not None
    )
    slow = config.latency_factor * state.latency_ms if floor > 0 else 0
    longest = config.max_delay_ms
    base = max(floor, min(state.crawl_delay_ms, longest), min(slow, longest))
    return round(max(base, state.adaptive_delay_ms))


def ranking_table(found: list[dict[str, Any]]) -> Table:
    """The ranking, narrow enough for 80 columns."""
    table = Table("host")
    for name in ("queued", "now", "fetched", "failed", "latency", "delay"):
        table.add_column(name, justify="right")
    for host in found:
        label = Text(host["host"], overflow="ellipsis", no_wrap=True)
        if host["blocked"]:
            label.append(" blocked", style="red")
        table.add_row(
            label,
            f"{host['queued']:,}",
            str(host["fetching"]),
            f"{host['fetched']:,}",
            Text(f"{host['failed']:,}", style="red" if host["failed"] else ""),
            seconds(host["latency_ms"]),
            seconds(host["pace_ms"]),
        )
    return table


def details(host: dict[str, Any]) -> Table:
    """One host, line by line: what it has, and how it is asked."""
    table = Table(host["host"], "", show_header=True, header_style="bold")
    rows = {
        "queued": f"{host['queued']:,}",
        "being fetched": str(host["fetching"]),
        "fetched, failed": f"{host['fetched']:,}, {host['failed']:,}",
        "last latency": seconds(host["latency_ms"]),
        "delay": _pace(host),
        "its own policy": _own(host),
        "its jobs wish": _wishes(host),
        "robots.txt asks": seconds(host["crawl_delay_ms"]),
        "since 429 or 503": seconds(host["adaptive_delay_ms"]),
        "blocked": "yes: skitter hosts unblock " + host["host"] if host["blocked"] else "no",
    }
    for name, text in rows.items():
        table.add_row(name, Text(text))
    return table


def seconds(ms: float | None) -> str:
    """Milliseconds as people read them."""
    if not ms:
        return "0"
    return f"{ms:,.0f} ms" if ms < 1000 else f"{ms / 1000:,.1f} s"


def _pace(host: dict[str, Any]) -> str:
    if host["pace_ms"]:
        return f"{seconds(host['pace_ms'])}, one request at a time"
    return f"none, up to {host['at_once']} at once"


def _own(host: dict[str, Any]) -> str:
    said = []
    if host["delay_ms"] is not None:
        said.append(f"delay {seconds(host['delay_ms'])}")
    if host["concurrency"] is not None:
        said.append(f"{host['concurrency']} at once")
    if host["budget"] is not None:
        said.append(f"{host['budget']:,} requests in {seconds(host['budget_ms'])}")
    return ", ".join(said) or "none: settings and jobs count"


def _wishes(host: dict[str, Any]) -> str:
    said = []
    if host["job_delay_ms"] is not None:
        said.append(f"delay {seconds(host['job_delay_ms'])}")
    if host["job_concurrency"] is not None:
        said.append(f"{host['job_concurrency']} at once")
    return ", ".join(said) or "nothing"
