"""`skitter audit`: what was changed, by whom, and how it ended."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from skitter.access import Audit
from skitter.cli.asking import tell_json
from skitter.cli.options import Json, Sets
from skitter.cli.stored import time_of
from skitter.settings import load_settings, parse_sets
from skitter.store import Store

if TYPE_CHECKING:
    from skitter.access import Entry


def audit(
    *,
    key: Annotated[
        str | None, typer.Option(help="Only what this key changed; `cli`: the command line.")
    ] = None,
    since: Annotated[str | None, typer.Option(help="Only since then: 12h, 7d, 2026-11-16.")] = None,
    after: Annotated[
        int | None, typer.Option(min=0, help="Go on from here: what --json calls next.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=1000)] = 20,
    sets: Sets = None,
    as_json: Json = False,
) -> None:
    """List changes, the newest first: those of the API by key, those of commands by user.

    Example: skitter audit --key cli --since 7d
    """
    url = load_settings(parse_sets(sets or [])).store.url
    moment = time_of("--since", since)
    since_ms = int(datetime.fromisoformat(moment).timestamp() * 1000) if moment else None

    async def ask() -> list[Entry]:
        async with await Store.open(url) as store:
            return await Audit(store).list(key=key, since_ms=since_ms, after=after, limit=limit)

    found = asyncio.run(ask())
    following = found[-1].id if len(found) == limit else None
    if as_json:
        tell_json({"entries": list(map(_values, found)), "next": following})
        return
    if found:
        Console().print(_table(found))
    else:
        typer.echo("no changes", err=True)
    if following:
        typer.echo(f"more: the same with --after {following}", err=True)


def _values(entry: Entry) -> dict[str, Any]:
    values = asdict(entry)
    return values | {"at": _time(values.pop("at_ms")).isoformat()}


def _table(entries: list[Entry]) -> Table:
    table = Table("at (UTC)", "who", "status")
    table.add_column("what", no_wrap=True, overflow="ellipsis")
    for entry in entries:
        status = "cut off" if entry.status is None else str(entry.status)
        at = _time(entry.at_ms).strftime("%m-%d %H:%M:%S")
        table.add_row(at, Text(f"{entry.name} ({entry.key_id})"), status, Text(entry.action))
    return table


def _time(ms: int) -> datetime:
    return datetime.fromtimestamp(ms / 1000, UTC)
