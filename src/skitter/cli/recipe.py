"""`skitter recipe check`: what each field of a page yields, and from where."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from skitter.cli.options import Sets
from skitter.errors import PageError
from skitter.lab.run import run_fast
from skitter.logs import setup_logs
from skitter.settings import load_settings, parse_sets

if TYPE_CHECKING:
    from skitter.extract.document import Document
    from skitter.extract.recipe import Recipe

FOLDER = Path("recipes")

app = typer.Typer(help="Recipes: what to take from a site's pages.", no_args_is_help=True)


@app.callback()
def root() -> None:
    """Keep `check` a command of its own, though it is the only one."""


@app.command()
def check(
    *,
    url: Annotated[str, typer.Argument(metavar="URL", help="The page's address.")],
    recipes: Annotated[
        list[Path] | None,
        typer.Option(
            "--recipe",
            metavar="FILE",
            help="A recipe; of several, the first that fits the URL. Without it, recipes/*.yaml.",
        ),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option(metavar="PAGE", help="A saved page, in place of fetching the URL."),
    ] = None,
    page: Annotated[str, typer.Option(help="The recipe's page, if the URL does not tell.")] = "",
    sets: Sets = None,
    as_json: Annotated[bool, typer.Option("--json", help="For machines.")] = False,
) -> None:
    """Show what a recipe takes from a page: each field, its raw text, and where it stands.

    Without a recipe for the URL, what the page tells machines is shown. The exit code is 1 if a
    required field has no value, or nothing was found at all.

    Example: skitter recipe check https://shop.example/p/12 --recipe shop.yaml
    """
    from skitter.cli.recipe_report import report, values  # noqa: PLC0415 - loads the extraction

    settings = load_settings(parse_sets(sets or []))
    setup_logs(settings.log)
    recipe = _choose(url, recipes)
    if file is not None:
        document = _read(file, url)
    else:
        from skitter.cli.recipe_page import fetch_page  # noqa: PLC0415 - as above

        document = run_fast(fetch_page(url, settings))
    outcome = values(recipe, document, rule=page)
    if as_json:
        typer.echo(json.dumps(outcome, indent=2, ensure_ascii=False))
    else:
        report(outcome, Console())
    raise typer.Exit(0 if outcome["ok"] else 1)


def _choose(url: str, given: list[Path] | None) -> Recipe | None:
    """The recipe for a URL. One that is named by itself is taken whatever the URL."""
    from skitter.extract.recipe import load_recipe  # noqa: PLC0415 - as above

    paths = given if given is not None else sorted(FOLDER.glob("*.y*ml"))
    loaded = [load_recipe(path) for path in paths]
    if given is not None and len(loaded) == 1:
        return loaded[0]
    chosen = next((recipe for recipe in loaded if recipe.fits(url)), None)
    if chosen is None and given is not None:
        raise PageError(url=url, reason="none of the recipes is about its address")
    return chosen


def _read(file: Path, url: str) -> Document:
    from skitter.cli.recipe_page import read_page  # noqa: PLC0415 - as above

    return read_page(file, url=url)
