"""What `skitter crawl` says at the end: what came of it, where it is, and how to have it."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from skitter.cli.progress import clock, rate
from skitter.masking import mask_text

if TYPE_CHECKING:
    from rich.console import Console

    from skitter.cli.crawling import Ended

FINE = ("finished", "limit reached")
SHOWN_ERRORS = 8


def values(ended: Ended, *, sinks: tuple[str, ...], exported: dict[str, Any]) -> dict[str, Any]:
    """For machines."""
    reading = asdict(ended.last.reading)
    del reading["at_s"]
    job = ended.record.job
    return {
        "job": job.id,
        "spider": job.spider,
        "state": ended.record.state,
        "outcome": ended.record.outcome,
        "resumed": ended.resumed,
        "seconds": round(ended.last.elapsed_s, 1),
        **reading,
        "reasons": ended.errors,
        "sinks": [mask_text(url) for url in sinks],
        "exported": exported,
    }


def show(
    ended: Ended, console: Console, *, sinks: tuple[str, ...], exported: dict[str, Any]
) -> None:
    """For people."""
    reading, record = ended.last.reading, ended.record
    seconds = ended.last.elapsed_s
    how = record.outcome or record.state
    console.print(
        Text.assemble(
            (record.job.id, "bold"), " ", (how, "green" if how in FINE else "yellow"),
            f" after {clock(seconds)}: ",
            (f"{reading.pages:,} pages", "bold"), f"{_per_s(ended)}, ",
            (f"{reading.items:,} items", "bold"), f", {reading.errors:,} errors.",
        ),
        soft_wrap=True,
    )  # fmt: skip
    if ended.errors:
        console.print(_errors(ended.errors))
    for text in _ways(ended, sinks=sinks, exported=exported):
        console.print(text, markup=False, highlight=False, soft_wrap=True)


def exit_code(ended: Ended) -> int:
    """0 fine, 3 ended but not as it should, 130 by Ctrl-C."""
    if ended.signal:
        return 128 + ended.signal
    return 0 if ended.record.outcome in FINE else 3


def _per_s(ended: Ended) -> str:
    """The rate over the whole crawl, unless part of it was before this run."""
    seconds = ended.last.elapsed_s
    known = seconds > 0 and not ended.resumed
    return f" ({rate(ended.last.reading.pages / seconds)})" if known else ""


def _errors(errors: dict[str, int]) -> Table:
    table = Table("error", title_justify="left")
    table.add_column("times", justify="right")
    for reason, number in sorted(errors.items(), key=lambda entry: -entry[1])[:SHOWN_ERRORS]:
        table.add_row(Text(reason), f"{number:,}")
    return table


def _ways(ended: Ended, *, sinks: tuple[str, ...], exported: dict[str, Any]) -> list[str]:
    """Where things are, and the command for what comes next."""
    job, reading = ended.record.job.id, ended.last.reading
    found = []
    if exported:
        found.append(f"Items:    {exported['file']} ({exported['items']:,})")
    elif reading.items:
        found.append(f"Items:    {', '.join(map(mask_text, sinks))}")
        found.append(f"Export:   skitter export --job {job} items.csv")
    if reading.buried:
        found.append(f"Given up: {reading.buried:,}, see skitter dlq group --job {job}")
    if ended.record.state != "ended":
        found.append(f"Go on:    the same command again, or skitter jobs resume {job}")
    return found
