"""A running crawl on the screen: a pure function from a snapshot to what is drawn, or to a line.

It fits 80 columns, and colour adds to it and says nothing by itself: with NO_COLOR, or in a log
file, nothing is lost.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from rich.console import Group
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from rich.console import RenderableType

    from skitter.cli.meter import Meter, Reading

SHOWN_ERRORS = 3
UNKNOWN = "?"


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """All that is shown of a crawl at one moment. Rates and left_s are None while unknown."""

    job: str
    spider: str
    state: str
    elapsed_s: float
    reading: Reading
    pages_per_s: float | None = None
    items_per_s: float | None = None
    left_s: float | None = None
    max_pages: int | None = None
    hosts: int = 0
    workers: int = 0
    errors: dict[str, int] = field(default_factory=dict)
    note: str = ""

    @property
    def share(self) -> float | None:
        """How much of it is done: of its limit, or of what is known so far."""
        if self.max_pages:
            return min(1.0, self.reading.pages / self.max_pages)
        if not self.reading.accepted:
            return None
        return self.reading.settled / self.reading.accepted


def rated(snapshot: Snapshot, meter: Meter) -> Snapshot:
    """With what a meter says of rates, and of the time that is left."""
    return replace(
        snapshot,
        pages_per_s=meter.per_s("pages"),
        items_per_s=meter.per_s("items"),
        left_s=meter.left_s(max_pages=snapshot.max_pages),
    )


def draw(snapshot: Snapshot) -> RenderableType:
    """The live display: five or six lines."""
    parts: list[RenderableType] = [_head(snapshot), _figures(snapshot), _bar(snapshot)]
    if snapshot.errors:
        parts.append(_short(_errors(snapshot), "yellow"))
    if snapshot.note:
        parts.append(_short(snapshot.note, "bold"))
    return Group(*parts)


def line(snapshot: Snapshot) -> str:
    """The same for a log file or a pipe."""
    reading = snapshot.reading
    parts = [
        f"{clock(snapshot.elapsed_s)} {snapshot.state}",
        f"{reading.pages:,} pages ({rate(snapshot.pages_per_s)})",
        f"{reading.items:,} items",
        f"{reading.errors:,} errors",
        f"{reading.queued:,} queued",
        f"{reading.leased:,} in hand",
        f"{reading.delayed:,} to be tried again",
        f"{snapshot.hosts:,} hosts",
        f"ETA {clock(snapshot.left_s)}",
    ]
    return ", ".join(parts)


def _head(snapshot: Snapshot) -> Table:
    table = Table.grid(expand=True, padding=(0, 1))
    table.add_column(no_wrap=True, overflow="ellipsis", ratio=1)
    table.add_column(no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    name = Text(snapshot.job, style="bold")
    if snapshot.spider != snapshot.job:
        name.append(f"  {snapshot.spider}", style="not bold")
    table.add_row(name, Text(snapshot.state, style="green"), clock(snapshot.elapsed_s))
    return table


def _figures(snapshot: Snapshot) -> Table:
    reading = snapshot.reading
    table = Table.grid(padding=(0, 1))
    for justify in ("right", "left") * 4:
        table.add_column(justify=justify, no_wrap=True)
    errors = Text(f"{reading.errors:,}", style="yellow" if reading.errors else "")
    buried = Text(f"{reading.buried:,}", style="red" if reading.buried else "")
    table.add_row(
        Text(f"  {reading.pages:,}", style="bold"),
        f"pages  {rate(snapshot.pages_per_s)}",
        f"  {reading.queued:,}",
        "queued",
        errors,
        "errors",
        f"  {snapshot.hosts:,}",
        "hosts",
    )
    table.add_row(
        Text(f"  {reading.items:,}", style="bold"),
        f"items  {rate(snapshot.items_per_s)}",
        f"  {reading.leased:,}",
        "in hand",
        buried,
        "given up",
        f"  {snapshot.workers:,}",
        "workers",
    )
    return table


def _bar(snapshot: Snapshot) -> Table:
    share = snapshot.share
    of = "of its limit" if snapshot.max_pages else "of what is known"
    told = f"{share:.0%} {of}" if share is not None else ""
    table = Table.grid(padding=(0, 1), expand=True)
    table.add_column(ratio=1)
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True, justify="right")
    bar = ProgressBar(
        total=1.0, completed=share or 0.0, complete_style="green", finished_style="green"
    )
    table.add_row(bar, told, f"ETA {clock(snapshot.left_s)}")
    return table


def _short(text: str, style: str) -> Text:
    return Text(f"  {text}", style=style, overflow="ellipsis", no_wrap=True)


def _errors(snapshot: Snapshot) -> str:
    most = sorted(snapshot.errors.items(), key=lambda entry: -entry[1])[:SHOWN_ERRORS]
    return "errors: " + ", ".join(f"{number:,} {name}" for name, number in most)


def rate(per_s: float | None) -> str:
    """A rate as people read it."""
    if per_s is None:
        return f"{UNKNOWN}/s"
    return f"{per_s:,.0f}/s" if per_s >= 100 else f"{per_s:.1f}/s"


def clock(seconds: float | None) -> str:
    """A span of time: 0:42, 12:05, 3:20:00, 4 d; a question mark when it is not known."""
    if seconds is None:
        return UNKNOWN
    whole = round(seconds)
    if whole >= 3 * 86_400:
        return f"{whole // 86_400} d"
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
