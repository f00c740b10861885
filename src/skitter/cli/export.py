"""`skitter export`: items out of a sink, as JSON Lines, JSON, CSV, XLSX or Parquet.

A file gets its name when it is whole, so that nobody takes half of one for all of it.
"""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager, suppress
from enum import StrEnum
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from skitter.cli.options import Sets
from skitter.cli.stored import (
    ChangedSince,
    Filters,
    From,
    Job,
    Kind,
    Since,
    Spider,
    Until,
    Where,
    reading,
)
from skitter.sinks import Wanted
from skitter.sinks.columns import Selection
from skitter.sinks.finalising import finalise as finalise_job
from skitter.sinks.forms import WRITERS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from skitter.sinks import Stored

STEP = 1_000


class Form(StrEnum):
    JSONL = "jsonl"
    JSON = "json"
    CSV = "csv"
    XLSX = "xlsx"
    PARQUET = "parquet"


def export(
    *,
    out: Annotated[Path, typer.Argument(metavar="FILE", help="- is stdout.")] = Path("-"),
    form: Annotated[
        Form | None,
        typer.Option("--format", help="Unless the file's name says; jsonl on stdout."),
    ] = None,
    job: Job = None,
    spider: Spider = None,
    kind: Kind = None,
    since: Since = None,
    until: Until = None,
    changed_since: ChangedSince = None,
    where: Where = None,
    fields: Annotated[
        str | None,
        typer.Option(help="Only these, with commas between them: title,offers.0.price,_url."),
    ] = None,
    bare: Annotated[
        bool, typer.Option(help="Leave out where items came from (_url, _job, …).")
    ] = False,
    place: From = None,
    sets: Sets = None,
) -> None:
    """Write items to a file or to stdout.

    Example: skitter export --job books --fields title,price,_url books.csv
    """
    filters = Filters(job, spider, kind, since, until, changed_since, where)
    source = reading(place, sets, filters.wanted())
    selection = Selection([name.strip() for name in fields.split(",")] if fields else (), bare)
    write = WRITERS[_form(form, out)]
    with _progress() as watched, opened(out) as file:
        count = write(lambda: watched(source()), file, selection)
    typer.echo(f"{count:,} items to {'stdout' if str(out) == '-' else out}", err=True)


def finalise(
    *,
    job: Annotated[str, typer.Argument(help="The job's id.")],
    place: From = None,
    sets: Sets = None,
) -> None:
    """Make one file of what a file sink has of a job: each item once, the last of equals."""
    url = reading(place, sets, Wanted()).place
    path, count = finalise_job(url, job)
    typer.echo(f"{count:,} items in {path}")


def _form(form: Form | None, out: Path) -> str:
    if form is not None:
        return form.value
    if str(out) == "-":
        return "jsonl"
    suffix = out.suffix.removeprefix(".").lower()
    if suffix not in WRITERS:
        raise typer.BadParameter(f"{out} does not say its form: add --format {'|'.join(WRITERS)}")
    return suffix


@contextmanager
def opened(out: Path) -> Iterator[IO[bytes]]:
    if str(out) == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    part = out.with_name(f"{out.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as file:
            yield file
        part.rename(out)
    finally:
        with suppress(FileNotFoundError):
            part.unlink()


@contextmanager
def _progress() -> Iterator[Callable[[Iterable[Stored]], Iterator[Stored]]]:
    """A count on a terminal, of what passes through."""
    console = Console(stderr=True)
    columns = (SpinnerColumn(), TextColumn("{task.completed:,.0f} items"), TimeElapsedColumn())
    quiet = not console.is_terminal
    with Progress(*columns, console=console, disable=quiet, transient=True) as progress:
        task = progress.add_task("", total=None)

        def watched(items: Iterable[Stored]) -> Iterator[Stored]:
            progress.update(task, completed=0)
            for number, found in enumerate(items):
                if number % STEP == 0:
                    progress.update(task, completed=number)
                yield found

        yield watched
