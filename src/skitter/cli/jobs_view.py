"""How jobs look in the terminal."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from skitter.cli.progress import clock
from skitter.masking import mask_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skitter.frontier import Request
    from skitter.jobs.view import JobView

FINE = ("finished", "limit reached")


def jobs_table(jobs: Sequence[JobView]) -> Table:
    """A line for each, narrow enough for 80 columns."""
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="dim")
    table.add_column("job", overflow="fold", min_width=24)  # whole: it is what is typed next
    table.add_column("state", no_wrap=True, min_width=9)
    for name in ("pages", "items", "errors", "pending"):
        table.add_column(name, justify="right", no_wrap=True, min_width=len(name))
    for job in jobs:
        figures = job.figures
        table.add_row(
            Text(job.id),
            state_text(job),
            f"{figures.pages:,}",
            f"{figures.items:,}",
            f"{figures.retries + figures.buried:,}",
            f"{figures.queued + figures.leased + figures.delayed:,}",
        )
    return table


def state_text(job: JobView) -> Text:
    """Its outcome once it has one."""
    if not job.ended:
        return Text(job.state, style="yellow" if job.state == "paused" else "cyan")
    return Text(job.outcome, style="green" if job.outcome in FINE else "red")


def job_table(job: JobView) -> Table:
    """One job, line by line; what says nothing is left out."""
    table = Table(job.id, "", show_header=True)
    for name, text in _rows(job).items():
        if text:
            table.add_row(name, Text(text))
    return table


def requests_table(requests: Sequence[Request]) -> Table:
    """What is upcoming."""
    table = Table("priority", "depth", "callback")
    table.add_column("url", no_wrap=True, overflow="ellipsis")
    for request in requests:
        table.add_row(
            str(request.priority),
            str(request.depth),
            Text(request.callback),
            Text(mask_text(f"{request.method} {request.url}".removeprefix("GET "))),
        )
    return table


def errors_table(errors: dict[str, int]) -> Table:
    """What went wrong, the most frequent first."""
    table = Table()
    table.add_column("times", justify="right")
    table.add_column("error", overflow="fold")
    for error, number in sorted(errors.items(), key=lambda entry: -entry[1]):
        table.add_row(f"{number:,}", Text(mask_text(error)))
    return table


def _rows(job: JobView) -> dict[str, str]:
    figures, submission = job.figures, job.submission
    took_s = (job.ended_at - job.created_at).total_seconds() if job.ended_at else None
    return {
        "state": f"ended: {job.outcome}" if job.ended else job.state,
        "waits for": job.hint,
        "spider": job.spider,
        "arguments": _pairs(job.args),
        "seeds": ", ".join(submission.seeds[:3]) + _more(submission.seeds) if submission else "",
        "labels": _pairs(job.labels),
        "attrs": json.dumps(job.attrs, ensure_ascii=False) if job.attrs else "",
        "priority": str(job.priority) if job.priority else "",
        "submitted": job.created_at.isoformat(timespec="seconds"),
        "ended": job.ended_at.isoformat(timespec="seconds") if job.ended_at else "",
        "took": clock(took_s) if took_s is not None else "",
        "expires": job.expires_at.isoformat(timespec="seconds") if job.expires_at else "",
        "pages, items": f"{figures.pages:,}, {figures.items:,}",
        "pending": f"{figures.queued:,} queued, {figures.leased:,} leased, "
        f"{figures.delayed:,} delayed",
        "ended well": f"{figures.done:,} of {figures.accepted:,} accepted",
        "given up": f"{figures.buried:,}: skitter dlq group --job {job.id}"
        if figures.buried
        else "",
        "retries": f"{figures.retries:,}" if figures.retries else "",
        "quality": "; ".join(json.dumps(failure) for failure in job.failures),
    }


def _pairs(values: dict[str, str]) -> str:
    return ", ".join(f"{name}={mask_text(value)}" for name, value in sorted(values.items()))


def _more(seeds: Sequence[str]) -> str:
    return f", and {len(seeds) - 3:,} more" if len(seeds) > 3 else ""
