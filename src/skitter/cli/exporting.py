"""A job's items into a file whose name says its form."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from skitter.cli.export import opened
from skitter.sinks import Wanted, read_stored
from skitter.sinks.columns import Selection
from skitter.sinks.forms import WRITERS

if TYPE_CHECKING:
    from pathlib import Path


def check_form(path: Path) -> str:
    """The form that a file's name says; better refused before the crawl than after it."""
    form = path.suffix.removeprefix(".").lower()
    if form not in WRITERS:
        raise typer.BadParameter(f"{path} says no form: end it in .{', .'.join(WRITERS)}")
    return form


def export_job(sink: str, job: str, path: Path) -> int:
    """Write all items of a job; how many there are."""
    wanted = Wanted(job=job)
    with opened(path) as file:
        return WRITERS[check_form(path)](lambda: read_stored(sink, wanted), file, Selection())
