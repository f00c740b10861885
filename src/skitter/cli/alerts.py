"""`skitter alerts …`: what is wrong now, by which rules, and whether webhooks hear of it."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from skitter.cli.options import Sets
from skitter.orchestrator.alerts import Alerts
from skitter.settings import Settings, load_settings, parse_sets
from skitter.store import Store

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

app = typer.Typer(help="Alerts: what is wrong, and who is told.", no_args_is_help=True)
AsJson = Annotated[bool, typer.Option("--json", help="For machines.")]


@app.command("list")
def list_(
    *,
    pending: Annotated[bool, typer.Option(help="Also those that may fire soon.")] = False,
    past: Annotated[
        int, typer.Option("--past", metavar="N", min=0, max=10_000, help="The last N events.")
    ] = 0,
    sets: Sets = None,
    as_json: AsJson = False,
) -> None:
    """List what is wrong now; with --past, what fired and cleared.

    The exit code is 0 whether something fires or not.

    Example: skitter alerts list --past 20 --json
    """
    settings = load_settings(parse_sets(sets or []))

    async def ask(alerts: Alerts) -> list[dict[str, Any]]:
        return await (alerts.events(limit=past) if past else alerts.firing(pending=pending))

    found = _run(settings, ask)
    if as_json:
        typer.echo(json.dumps(found, indent=2))
    elif not found:
        typer.echo("Nothing is wrong." if not past else "Nothing has happened.")
    else:
        Console().print(_table(found))


@app.command()
def rules(*, sets: Sets = None, as_json: AsJson = False) -> None:
    """List the rules, as files and settings have them."""
    settings = load_settings(parse_sets(sets or []))

    async def ask(alerts: Alerts) -> list[dict[str, Any]]:
        return alerts.rules()

    found = _run(settings, ask)
    if as_json:
        typer.echo(json.dumps(found, indent=2))
        return
    table = Table("rule", "severity", "figure", "above", "for", "window", "says")
    for rule in found:
        numbers = [f"{rule['above']:g}", f"{rule['for_s']:g} s", f"{rule['window_s']:g} s"]
        table.add_row(rule["name"], rule["severity"], rule["figure"], *numbers, rule["summary"])
    Console().print(table)


@app.command("test")
def try_webhooks(*, sets: Sets = None, as_json: AsJson = False) -> None:
    """Send each webhook of alerts.webhooks a test; the exit code is 1 if one does not take it."""
    settings = load_settings(parse_sets(sets or []))
    answers = _run(settings, lambda alerts: alerts.test())
    if as_json:
        typer.echo(json.dumps(answers, indent=2))
    else:
        typer.echo("\n".join(f"{name}: {answer}" for name, answer in answers.items())
                   or "There are no webhooks: set alerts.webhooks.")  # fmt: skip
    if any(answer != "ok" for answer in answers.values()):
        raise typer.Exit(1)


def _run(settings: Settings, ask: Callable[[Alerts], Awaitable[Any]]) -> Any:
    async def work() -> Any:
        async with await Store.open(settings.store.url) as store:
            return await ask(Alerts(store, settings.alerts))

    return asyncio.run(work())


def _table(found: list[dict[str, Any]]) -> Table:
    table = Table("since (UTC)", "what", "rule", "severity", "says")
    for one in found:
        at = one["at_ms"] / 1000 if "at_ms" in one else one["since"]
        when = datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S")
        what = one.get("kind") or one.get("phase", "")
        table.add_row(when, what, one["rule"], one.get("severity", ""), one.get("summary", ""))
    return table
