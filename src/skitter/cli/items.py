"""`skitter items`: what a sink holds, in the terminal."""

from __future__ import annotations

from collections import deque
from itertools import islice
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

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
    cell,
    reading,
)
from skitter.sinks.columns import Selection
from skitter.sinks.json_text import to_json
from skitter.sinks.views import ORIGINS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skitter.sinks import Stored

SHOWN_FIELDS = 6


def items(
    *,
    job: Job = None,
    spider: Spider = None,
    kind: Kind = None,
    since: Since = None,
    until: Until = None,
    changed_since: ChangedSince = None,
    where: Where = None,
    fields: Annotated[
        str | None, typer.Option(help="Columns, with commas between them: title,price,_url.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=10_000)] = 20,
    last: Annotated[bool, typer.Option(help="The last ones that came, not the first.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="For machines: one on each line.")
    ] = False,
    place: From = None,
    sets: Sets = None,
) -> None:
    """Show items: what they hold, and the page they are from.

    Example: skitter items --job books --fields title,price -n 50
    """
    filters = Filters(job, spider, kind, since, until, changed_since, where)
    found = reading(place, sets, filters.wanted())()
    shown = list(deque(found, maxlen=limit)) if last else list(islice(found, limit))
    names = [name.strip() for name in fields.split(",")] if fields else []
    if as_json:
        for each in shown:
            typer.echo(to_json(Selection(names).record(each), url=each.item.url))
    else:
        _show(shown, names)


def _show(shown: Sequence[Stored], names: list[str]) -> None:
    if not shown:
        typer.echo("no items", err=True)
        return
    names = names or _usual(shown)
    table = Table(*map(escape, names))
    selection = Selection(names)
    for each in shown:
        table.add_row(*(cell(value) for value in selection.record(each).values()))
    Console().print(table)


def _usual(shown: Sequence[Stored]) -> list[str]:
    """The fields that most items have, then where they came from."""
    counts: dict[str, int] = {}
    for each in shown:
        for name in each.item.data:
            counts[name] = counts.get(name, 0) + 1
    most = sorted(counts, key=lambda name: -counts[name])[:SHOWN_FIELDS]
    kinds = {each.item.kind for each in shown}
    origins = [name for name in ORIGINS if name == "url" or (name == "kind" and len(kinds) > 1)]
    return [*(name for name in counts if name in most), *(f"_{name}" for name in origins)]
