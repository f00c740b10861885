"""`skitter up`: all of Skitter on this machine: the API, the orchestrator and workers."""

from __future__ import annotations

import asyncio
import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from skitter.cli.options import Json, Sets
from skitter.cli.project_spiders import crew_for_all, in_project, judged_spiders
from skitter.logs import setup_logs
from skitter.settings import load_settings, parse_sets

if TYPE_CHECKING:
    from skitter.cli.standing_up import Standing
    from skitter.settings import Settings


def up(
    *,
    host: Annotated[str | None, typer.Option(help="The API's address.")] = None,
    port: Annotated[int | None, typer.Option(min=0, max=65_535, help="Its port; 0: any.")] = None,
    workers: Annotated[
        int | None,
        typer.Option(min=1, max=1024, help="So many worker processes, always; no autoscaling."),
    ] = None,
    sets: Sets = None,
    as_json: Json = False,
) -> None:
    """Run everything on this machine: the API, the orchestrator, and workers as they are needed.

    In a project's folder, workers run its spiders and those that come with Skitter. The first
    start prints a key for the API, once. Ctrl-C drains; jobs go on at the next start.

    Examples:
    skitter up

    skitter up --port 8080 --workers 4 --set redis.url=redis://queue:6379
    """
    flags = parse_sets(sets or [])
    given = {"api.host": host, "api.port": port, "worker.processes": workers}
    flags |= {name: value for name, value in given.items() if value is not None}
    settings = load_settings(flags)
    setup_logs(settings.log, worker=settings.worker.name())
    raise typer.Exit(_run(settings, scaling=workers is None, as_json=as_json))


def _run(settings: Settings, *, scaling: bool, as_json: bool) -> int:
    from skitter.cli.standing_up import Orders, stand_up  # noqa: PLC0415 - loads all services

    orders = Orders(settings, crew_for_all(), judged_spiders, scaling)
    tell = _tell_machines if as_json else _tell_people
    return asyncio.run(stand_up(orders, tell=tell))


def _tell_machines(standing: Standing) -> None:
    typer.echo(json.dumps(asdict(standing)))


def _tell_people(standing: Standing) -> None:
    spiders = "the project's spiders, and those" if in_project() else "the spiders"
    console = Console()
    console.print(f"[bold]Skitter is up[/] at [bold]{standing.url}[/]", highlight=False)
    if standing.key:
        console.print(f"  key      {standing.key}", highlight=False, markup=False, soft_wrap=True)
        console.print("           (for an admin; shown this once, so keep it)")
    console.print(f"  workers  {standing.workers}")
    console.print(f"  spiders  {spiders} that come with Skitter")
    console.print(f"  folder   {standing.folder}", highlight=False, markup=False, soft_wrap=True)
    key = standing.key or "$KEY"
    submit = '{"spider": "link", "seeds": ["https://example.org/"], "max_pages": 10}'
    console.print(
        f"  try      curl -H 'Authorization: Bearer {key}' -H 'Content-Type: application/json' \\\n"
        f"             {standing.url}/api/v1/jobs -d '{submit}'",
        highlight=False, markup=False, soft_wrap=True,
    )  # fmt: skip
    console.print("Ctrl-C drains and ends it; jobs go on at the next start.")
