"""`skitter quarantine`: what validation refused, to be looked at, checked again, and let go."""

from __future__ import annotations

import asyncio
import json
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from skitter.cli.held_rules import judge_of
from skitter.cli.options import Sets
from skitter.cli.stored import Job, Spider, cell
from skitter.errors import NotHeld
from skitter.settings import load_settings, parse_sets

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skitter.sinks.quarantine import Held, Judge, Quarantine, Rechecked

SHOWN_REASONS = 20

app = typer.Typer(help="Quarantine: what validation refused, held.", no_args_is_help=True)

File = Annotated[
    Path | None,
    typer.Option("--file", help="The file that holds it, unless the one beside the items."),
]
Json = Annotated[bool, typer.Option("--json", help="For machines.")]
Ids = Annotated[
    list[str], typer.Argument(metavar="ID…", help="As `list` shows them; a beginning is enough.")
]
Schema = Annotated[
    Path | None, typer.Option(help="A JSON Schema that items have to fit besides their rules.")
]


@app.command("list")
def list_held(
    *,
    job: Job = None,
    spider: Spider = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=10_000)] = 20,
    file: File = None,
    sets: Sets = None,
    as_json: Json = False,
) -> None:
    """Show what is held, and why: the first that came first.

    Example: skitter quarantine list --job shop -n 50
    """
    held = _open(file, sets)
    shown = list(islice(_entries(held, job, spider), limit))
    if as_json:
        for entry in shown:
            typer.echo(json.dumps(_plain(entry)))
        return
    table = Table("id", "job", "field", "reason", "raw", "page")
    for entry in shown:
        item = entry.item
        texts = (item.id[:12], item.job, entry.field, entry.reason, entry.raw, item.url)
        table.add_row(*map(cell, texts))
    if shown:
        Console().print(table)
    total = sum(1 for _ in _entries(held, job, spider))
    typer.echo(f"{len(shown):,} of {total:,} shown", err=True)


@app.command()
def show(*, ids: Ids, file: File = None, sets: Sets = None, as_json: Json = False) -> None:
    """Show all that is known of entries; with --json, one a line.

    Example: skitter quarantine show 3f2a --json | jq .data
    """
    for entry in _named(_open(file, sets), ids):
        if as_json:
            typer.echo(json.dumps(_plain(entry), ensure_ascii=False))
        else:
            Console().print(_details(entry))


@app.command()
def check(
    *,
    job: Job = None,
    spider: Spider = None,
    schema: Schema = None,
    file: File = None,
    sets: Sets = None,
    as_json: Json = False,
) -> None:
    """Check again what is held, by the rules as they are now, and change nothing.

    The exit code is 1 if something would still be held.

    Example: skitter quarantine check --job shop
    """
    from skitter.sinks.quarantine import Rechecked  # noqa: PLC0415 - loads the sinks

    judge, done = judge_of(schema), Rechecked()
    for entry in _entries(_open(file, sets), job, spider):
        verdict = judge(entry.item)
        if isinstance(verdict, str):
            done.held += 1
            done.reasons[verdict] = done.reasons.get(verdict, 0) + 1
        else:
            done.released += 1
    _tell(done, "would be released", as_json=as_json)
    raise typer.Exit(1 if done.held else 0)


@app.command()
def release(
    *,
    ids: Annotated[list[str] | None, typer.Argument(metavar="ID…")] = None,
    checked: Annotated[
        bool, typer.Option(help="All that the rules accept now, in place of IDs.")
    ] = False,
    job: Job = None,
    schema: Schema = None,
    file: File = None,
    sets: Sets = None,
    as_json: Json = False,
) -> None:
    """Let entries go to the sink: those named as they are, or all that are accepted now.

    They are stored first, and leave the quarantine after.

    Examples:
    skitter quarantine release --checked --job shop

    skitter quarantine release 3f2a 77b0
    """
    if bool(ids) == checked:
        raise typer.BadParameter("give IDs, or --checked")
    held = _open(file, sets)
    what = judge_of(schema) if checked else _named(held, ids or [])
    done = asyncio.run(_release(held, what, job=job, sets=sets))
    _tell(done, "released", as_json=as_json)


@app.command()
def discard(
    *,
    ids: Annotated[list[str] | None, typer.Argument(metavar="ID…")] = None,
    job: Annotated[str | None, typer.Option(help="All of this job, in place of IDs.")] = None,
    file: File = None,
    sets: Sets = None,
    as_json: Json = False,
) -> None:
    """Throw entries away for good.

    Examples:
    skitter quarantine discard 3f2a

    skitter quarantine discard --job shop
    """
    if bool(ids) == (job is not None):
        raise typer.BadParameter("give IDs, or --job")
    held = _open(file, sets)
    found = _named(held, ids) if ids else _entries(held, job, None)
    count = held.discard([entry.item.id for entry in found])
    typer.echo(json.dumps({"discarded": count}) if as_json else f"{count:,} discarded")


def _open(file: Path | None, sets: list[str] | None) -> Quarantine:
    from skitter.sinks.quarantine import Quarantine  # noqa: PLC0415 - as above
    from skitter.spiders.checking import quarantine_path  # noqa: PLC0415 - as above

    return Quarantine(file or quarantine_path(load_settings(parse_sets(sets or [])).items.sink))


def _entries(held: Quarantine, job: str | None, spider: str | None) -> Iterator[Held]:
    """What is held; where there is no file there is nothing, and to look makes none."""
    return held.entries(job=job, spider=spider) if held.path.exists() else iter(())


def _named(held: Quarantine, ids: list[str]) -> list[Held]:
    """The entries whose ids begin so, one for each; raises NotHeld."""
    found: dict[str, list[Held]] = {one: [] for one in ids}
    for entry in _entries(held, None, None):
        for one in ids:
            if entry.item.id.startswith(one):
                found[one].append(entry)
    for one, entries in found.items():
        if len(entries) != 1:
            raise NotHeld(id=one, count=len(entries), file=held.path)
    return [entries[0] for entries in found.values()]


async def _release(
    held: Quarantine, what: Judge | list[Held], *, job: str | None, sets: list[str] | None
) -> Rechecked:
    """Into the sink: what is accepted now, or these entries as they are."""
    from skitter.sinks import open_sink, quarantine  # noqa: PLC0415 - as above

    sink = open_sink(load_settings(parse_sets(sets or [])).items.sink)
    await sink.open()
    try:
        if not isinstance(what, list):
            return await quarantine.recheck(held, what, sink, job=job)
        await quarantine.release(held, what, sink)
        return quarantine.Rechecked(released=len(what))
    finally:
        await sink.close()


def _tell(done: Rechecked, what: str, *, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(asdict(done)))
        return
    typer.echo(f"{done.released:,} {what}, {done.held:,} held")
    most = sorted(done.reasons.items(), key=lambda pair: -pair[1])[:SHOWN_REASONS]
    for reason, count in most:
        typer.echo(f"{count:8,} {reason}")


def _details(entry: Held) -> Table:
    """One entry, line by line, its values below what is known of it; what is empty is left out."""
    values = _plain(entry)
    table = Table("entry", values.pop("id"))
    data = values.pop("data")
    for name, value in [*values.items(), *data.items()]:
        if value not in (None, "", {}):
            table.add_row(name, Text(str(value)))
    return table


def _plain(entry: Held) -> dict[str, Any]:
    return {
        "reason": entry.reason,
        "field": entry.field,
        "raw": entry.raw,
        **asdict(entry.item),
    }
