"""How `skitter status` looks: 80 columns, and the same words with colour and without."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group
from rich.table import Table
from rich.text import Text

from skitter.cli.progress import UNKNOWN, rate

if TYPE_CHECKING:
    from rich.console import RenderableType

    from skitter.cli.meter import Meter
    from skitter.cli.overview import JobLine, Overview

SHOWN_JOBS, SHOWN_WORKERS = 12, 8


def draw_status(view: Overview, meter: Meter, *, at: str) -> RenderableType:
    """Totals, then jobs, then workers."""
    parts: list[RenderableType] = [_head(view, at), _totals(view, meter)]
    if view.jobs:
        parts += ["", _jobs(view)]
    if view.workers:
        parts += ["", _workers(view)]
    hints = _hints(view)
    return Group(*parts, *(["", *hints] if hints else []))


def status_line(view: Overview, meter: Meter, *, at: str) -> str:
    """The same for a log file or a pipe."""
    total = view.total
    return (
        f"{at} {total.pending:,} URLs pending, {total.queued:,} queued, {total.leased:,} leased, "
        f"{total.delayed:,} delayed, {total.pages:,} visited ({rate(view.pages_per_s)}), "
        f"{total.items:,} items ({rate(meter.per_s('items'))}), {total.errors:,} errors, "
        f"{view.dead_letters:,} dead letters, {view.hosts:,} hosts, {len(view.workers)} workers, "
        f"{view.live_jobs:,} jobs"
    )


def _head(view: Overview, at: str) -> Table:
    table = Table.grid(expand=True, padding=(0, 1))
    table.add_column(no_wrap=True, overflow="ellipsis", ratio=1)
    table.add_column(justify="right", no_wrap=True)
    name = Text("skitter", style="bold")
    name.append(f"  {view.namespace} on {view.server}", style="not bold")
    table.add_row(name, at)
    return table


def _totals(view: Overview, meter: Meter) -> Table:
    total = view.total
    table = Table.grid(padding=(0, 2))
    for justify in ("left", "right") * 2:
        table.add_column(justify=justify, no_wrap=True, min_width=13)
    table.add_column(no_wrap=True)
    rows = [
        ("URLs pending", total.pending, "visited", total.pages, rate(view.pages_per_s)),
        ("requests queued", total.queued, "items", total.items, rate(meter.per_s("items"))),
        ("leased", total.leased, "errors", total.errors, rate(meter.per_s("errors"))),
        ("delayed", total.delayed, "dead letters", view.dead_letters, ""),
        ("hosts", view.hosts, "workers", len(view.workers), f"{view.live_jobs:,} live jobs"),
    ]
    for first, number, second, other, more in rows:
        wrong = second in ("errors", "dead letters") and other
        table.add_row(
            f"  {first}",
            Text(f"{number:,}", style="bold"),
            second,
            Text(f"{other:,}", style="bold yellow" if wrong else "bold"),
            more,
        )
    return table


def _jobs(view: Overview) -> Table:
    table = Table(box=None, padding=(0, 1), header_style="dim", expand=False)
    table.add_column("job", no_wrap=True, overflow="ellipsis", max_width=32)
    table.add_column("state", no_wrap=True)
    for name in ("pages", "items", "errors", "pending"):
        table.add_column(name, justify="right", no_wrap=True)
    shown = sorted(view.jobs, key=lambda job: -job.reading.pending)[:SHOWN_JOBS]
    for job in shown:
        table.add_row(Text(job.id), job.state, *_figures(job))
    if view.live_jobs > len(shown):
        table.add_row(f"… {view.live_jobs - len(shown):,} more: skitter jobs list")
    return table


def _figures(job: JobLine) -> tuple[Text, ...]:
    reading = job.reading
    errors = Text(f"{reading.errors:,}", style="yellow" if reading.errors else "")
    return (
        Text(f"{reading.pages:,}"),
        Text(f"{reading.items:,}"),
        errors,
        Text(f"{reading.pending:,}"),
    )


def _workers(view: Overview) -> Table:
    table = Table(box=None, padding=(0, 1), header_style="dim")
    table.add_column("worker", no_wrap=True, overflow="ellipsis", max_width=28)
    table.add_column("state", no_wrap=True)
    for name in ("pages/s", "in flight", "CPU", "memory"):
        table.add_column(name, justify="right", no_wrap=True)
    for said in view.workers[:SHOWN_WORKERS]:
        table.add_row(
            Text(said["name"]),
            said.get("state", UNKNOWN),
            f"{said.get('pages_per_s', 0):.1f}",
            str(said.get("in_flight", 0)),
            f"{said.get('cpu_percent', 0):.0f} %",
            f"{said.get('memory', 0) / 1024**2:.0f} MiB",
        )
    if len(view.workers) > SHOWN_WORKERS:
        table.add_row(f"… {len(view.workers) - SHOWN_WORKERS} more: skitter workers")
    return table


def _hints(view: Overview) -> list[RenderableType]:
    """What to do next, where it is plain."""
    hints = []
    if view.total.pending and not view.workers:
        hints.append("Nobody works on it: skitter worker, or skitter up")
    if view.dead_letters:
        hints.append("What was given up: skitter dlq group")
    missing = {spider for said in view.workers for spider in said.get("missing", [])}
    if missing:
        hints.append(f"No worker has the spider {', '.join(sorted(missing))}")
    if len(view.jobs) < view.live_jobs:
        hints.append(f"Totals are those of {len(view.jobs):,} of {view.live_jobs:,} jobs")
    return [Text(f"  {hint}", style="cyan", overflow="ellipsis", no_wrap=True) for hint in hints]
