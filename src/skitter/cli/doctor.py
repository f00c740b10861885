"""`skitter doctor`: what is configured, reachable and missing, and how to mend it."""

from __future__ import annotations

import logging
from dataclasses import asdict
from typing import TYPE_CHECKING

import typer
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from skitter.cli.asking import tell_json
from skitter.cli.check_machine import check_machine
from skitter.cli.check_services import (
    check_manners,
    check_server,
    check_sinks,
    check_spiders,
    check_store,
)
from skitter.cli.finding import Finding, of_error, ok
from skitter.cli.options import Json, Sets
from skitter.errors import SettingsError
from skitter.lab.run import run_fast
from skitter.logs import setup_logs
from skitter.settings import LogSettings, Settings, load_with_origins, parse_sets

if TYPE_CHECKING:
    from skitter.settings import LoadedSettings

STYLES = {"ok": "green", "note": "dim", "warning": "yellow", "problem": "bold red"}


def doctor(*, sets: Sets = None, as_json: Json = False) -> None:
    """Check what is configured, reachable and missing, and tell how to mend it.

    The exit code is 1 if there is a problem: something without which crawls do not run.

    Example: skitter doctor --set redis.url=redis://queue:6379
    """
    setup_logs(LogSettings(level="critical"))
    logging.disable(logging.CRITICAL)  # what the project's own code logs is not asked for
    try:
        found = _examine(sets)
    finally:
        logging.disable(logging.NOTSET)
    if as_json:
        tell_json([asdict(finding) for finding in found])
    else:
        Console().print(_report(found))
    if any(finding.verdict == "problem" for finding in found):
        raise typer.Exit(1)


def _examine(sets: list[str] | None) -> list[Finding]:
    try:
        loaded = load_with_origins(parse_sets(sets or []))
    except SettingsError as error:
        return [of_error("settings", error), *check_machine(Settings()), *check_spiders()]
    settings = loaded.settings
    return [
        _settings(loaded),
        *check_machine(settings),
        *run_fast(_reachable(settings)),
        *check_spiders(),
        *check_manners(settings),
    ]


async def _reachable(settings: Settings) -> list[Finding]:
    return [
        *await check_server(settings),
        *await check_store(settings),
        *await check_sinks(settings),
    ]


def _settings(loaded: LoadedSettings) -> Finding:
    if not loaded.origins:
        return ok("settings", "all at their defaults; skitter settings lists them")
    places = sorted(set(loaded.origins.values()))
    return ok("settings", f"{len(loaded.origins)} set by {', '.join(places)}")


def _report(found: list[Finding]) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for finding in found:
        style = STYLES[finding.verdict]
        table.add_row(Text(finding.verdict, style=style), finding.subject, Text(finding.told))
        if finding.fix:
            table.add_row("", "", Padding(Text(finding.fix, style="italic"), (0, 0, 0, 2)))
    table.add_row("", "", Text(f"\n{_summary(found)}", style="bold"))
    return table


def _summary(found: list[Finding]) -> str:
    problems = sum(finding.verdict == "problem" for finding in found)
    warnings = sum(finding.verdict == "warning" for finding in found)
    if not problems and not warnings:
        return "All is well."
    return f"problems: {problems}, warnings: {warnings}"
