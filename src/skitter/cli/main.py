"""The root of the command line: version, settings, and the commands that others bring.

Results go to stdout, everything else to stderr. An error that Skitter knows of is told in its
own words, with its hint and without a traceback.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import Annotated

import typer
from rich.console import Console, Group
from rich.padding import Padding
from rich.text import Text

from skitter import __version__
from skitter.cli.commands import Commands
from skitter.cli.options import Sets
from skitter.cli.reference import render_reference
from skitter.errors import SkitterError
from skitter.settings import load_with_origins, parse_sets
from skitter.settings.listing import Row, list_settings, render_page, show

app = typer.Typer(
    cls=Commands,
    help="A distributed crawler that loses nothing and never hammers a site.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def main() -> None:
    """Run the command line; the console script's entry."""
    try:
        app()
    except SkitterError as error:
        typer.echo(f"Error: {error}", err=True)
        sys.exit(1)


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"skitter {__version__}")
        raise typer.Exit


@app.callback()
def root(
    *,
    _version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Options that stand before any command."""


@app.command()
def settings(
    *,
    sets: Sets = None,
    as_json: Annotated[bool, typer.Option("--json", help="For machines.")] = False,
    as_markdown: Annotated[
        bool, typer.Option("--markdown", help="The page of the docs, from defaults alone.")
    ] = False,
) -> None:
    """List every setting: its value, where that comes from, its default, what it is for."""
    if as_markdown:
        typer.echo(render_page(), nl=False)
        return
    rows = list_settings(load_with_origins(parse_sets(sets or [])))
    if as_json:
        typer.echo(json.dumps([asdict(row) for row in rows], indent=2))
    else:
        Console().print(*map(_entry, rows), sep="")


@app.command(hidden=True)
def reference() -> None:
    """Write the page of the docs that tells of all commands."""
    typer.echo(render_reference(app), nl=False)


def _entry(row: Row) -> Group:
    changed = row.source != "default"
    head = Text(f"{row.name} = {show(row.value)}", style="bold" if changed else "")
    if changed:
        head.append(f"  ({row.source}; default {show(row.default)})", style="not bold green")
    doc = Padding(Text(row.doc, style="dim"), (0, 0, 1, 4), expand=False)
    return Group(head, doc)


if __name__ == "__main__":
    main()
