"""`skitter demo`: two shops and an exchange of the lab, crawled twice; items, prices, a verdict.

All of it happens on this machine. What it makes stays in one folder, to be looked at afterwards.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from skitter.cli.asking import tell_json
from skitter.cli.demo_report import report, values
from skitter.cli.exporting import export_kind
from skitter.cli.options import Json
from skitter.cli.screens import screen
from skitter.logs import setup_logs
from skitter.service_errors import CannotInit
from skitter.settings import LogSettings

if TYPE_CHECKING:
    from skitter.cli.demo_run import Outcome

FOLDER = Path("skitter-demo")
MARK = ".made-by-skitter-demo"
FILES = {"products.csv": "Product", "quotes.csv": "Quote"}


def demo(
    *,
    folder: Annotated[Path, typer.Option("--dir", help="Where its files go.")] = FOLDER,
    products: Annotated[int, typer.Option(min=1, max=5000, help="Products in each shop.")] = 60,
    tickers: Annotated[int, typer.Option(min=1, max=5000, help="Quotes of the exchange.")] = 60,
    processes: Annotated[int, typer.Option(min=1, max=32, help="Worker processes.")] = 2,
    as_json: Json = False,
) -> None:
    """Crawl demo shops and an exchange on this machine, twice; show items, prices, the verdict.

    Example: skitter demo --products 200 --processes 4
    """
    _enter(folder)
    console = Console(stderr=as_json)
    console.print(
        f"Two shops with {products} products each and an exchange with {tickers} quotes, "
        f"on this machine;\n{processes} worker processes crawl them, twice.",
        highlight=False,
    )
    try:
        outcome = _crawl(products, tickers, processes)
    except KeyboardInterrupt:
        console.print(f"Stopped; what was found is in {folder}.")
        raise typer.Exit(130) from None
    counts = {name: export_kind(kind, Path(name)) for name, kind in FILES.items()}
    _tell(outcome, folder, counts, console=console, as_json=as_json)
    if not outcome.polite:
        raise typer.Exit(1)


def _crawl(products: int, tickers: int, processes: int) -> Outcome:
    from skitter.cli.demo_run import Plan, run_demo  # noqa: PLC0415 - loads all services

    plan = Plan(products, tickers, processes)
    with screen(Path(".skitter") / "demo.log") as shown:
        setup_logs(LogSettings(level="warning"))
        return asyncio.run(run_demo(plan, shown))


def _enter(folder: Path) -> None:
    """Begin in an empty folder; one that an earlier demo made is made anew."""
    if folder.exists():
        if not (folder / MARK).is_file():
            reason = f"{folder} is there, and not made by a demo"
            raise CannotInit(name="demo", reason=reason)
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    (folder / MARK).touch()
    os.chdir(folder)


def _tell(
    outcome: Outcome, folder: Path, counts: dict[str, int], *, console: Console, as_json: bool
) -> None:
    told: dict[str, Any] = values(outcome, folder=folder, counts=counts)
    if as_json:
        tell_json(told)
    else:
        report(outcome, console, folder=folder, counts=counts)
