"""`skitter history`: how the tracked fields of items changed, such as prices."""

from __future__ import annotations

from dataclasses import asdict
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from skitter.cli.options import Sets
from skitter.cli.stored import From, Since, cell, reading, time_of
from skitter.sinks import Wanted, identify_by_key, read_history, read_page
from skitter.sinks.json_text import to_json

if TYPE_CHECKING:
    from skitter.sinks import Change

Words = Annotated[
    list[str] | None,
    typer.Argument(metavar="ID | SPIDER KEY…", help="An item by its id, or by spider and key."),
]


def history(
    *,
    words: Words = None,
    kind: Annotated[str, typer.Option(help="The class of an item given by key.")] = "Product",
    job: Annotated[str | None, typer.Option(help="Only what this job changed.")] = None,
    since: Since = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=100_000)] = 1_000,
    as_json: Annotated[
        bool, typer.Option("--json", help="For machines: one change on each line.")
    ] = False,
    place: From = None,
    sets: Sets = None,
) -> None:
    """Show how tracked fields changed: of one item, by a job, or of all.

    Example: skitter history ecommerce shop.example KB-100
    """
    url = reading(place, sets, Wanted()).place
    item = _item(words or [], kind)
    found = read_history(url, item=item, job=job, since=time_of("--since", since))
    changes = list(islice(found, limit))
    if as_json:
        for change in changes:
            typer.echo(to_json(asdict(change), url=""))
        return
    _tell_item(url, item)
    _show(changes, whose=item is None)


def _item(words: list[str], kind: str) -> str | None:
    if len(words) < 2:
        return words[0] if words else None
    return identify_by_key(tuple(words[1:]), spider=words[0], kind=kind)


def _tell_item(url: str, item: str | None) -> None:
    """What is known of the item itself, and of when it was seen."""
    if item is None:
        return
    page, _ = read_page(url, Wanted(id=item), limit=1)
    if not page:
        typer.echo(f"no item {item}", err=True)
        return
    found = page[0]
    typer.echo(f"{found.item.kind} {item} of {found.item.url}", err=True)
    typer.echo(
        f"first seen {found.first_seen} by {found.first_job or '?'},"
        f" last seen {found.last_seen} by {found.item.job}",
        err=True,
    )


def _show(changes: list[Change], *, whose: bool) -> None:
    if not changes:
        typer.echo("no changes", err=True)
        return
    table = Table("at", "job", *(["item"] if whose else []), "field", "before", "after")
    for change in changes:
        for name, before, after in _differences(change):
            row: list[Any] = [change.at, change.job, *([change.item] if whose else [])]
            table.add_row(*map(Text, row), Text(name), cell(before), cell(after))
    Console().print(table)


def _differences(change: Change) -> list[tuple[str, Any, Any]]:
    names = {**change.before, **change.after}
    values = [(name, change.before.get(name), change.after.get(name)) for name in names]
    return [each for each in values if each[1] != each[2]]
