"""`skitter worker` runs spiders on this machine; `skitter workers` lists all that do, anywhere."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from skitter.cli.options import Sets
from skitter.frontier.opening import open_frontier
from skitter.logs import setup_logs
from skitter.orchestrator.local_scaling import Scaling, autoscale_flags
from skitter.settings import Settings, load_settings, parse_sets
from skitter.worker.orders import Restriction, parse_shards
from skitter.worker.run import run_worker

Words = list[str] | None


def worker(
    *,
    project: Annotated[
        Path | None,
        typer.Option(
            help="The folder of a Scrapy project; unsaid, this one.", exists=True, file_okay=False
        ),
    ] = None,
    spiders: Annotated[
        Words, typer.Option(metavar="MODULE", help="Run a module's spiders; may be repeated.")
    ] = None,
    only: Annotated[
        Words, typer.Option(metavar="SPIDER", help="Only this spider's jobs; may be repeated.")
    ] = None,
    hosts: Annotated[
        Words, typer.Option(metavar="HOST", help="Only this host's requests; may be repeated.")
    ] = None,
    shards: Annotated[
        str, typer.Option(metavar="0-3", help="Only these shards of the frontier.")
    ] = "",
    processes: Annotated[
        int | None, typer.Option(min=1, max=1024, help="How many; unsaid, one for each core.")
    ] = None,
    autoscale: Annotated[
        str, typer.Option(metavar="MIN-MAX", help="As many processes as there is work for: 0-8.")
    ] = "",
    health_port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Where to tell health and figures.")
    ] = None,
    sets: Sets = None,
) -> None:
    """Run the spiders of a Scrapy project for all jobs that there are, until a signal ends it.

    SIGTERM and Ctrl-C drain: what is begun is finished within worker.grace_s, the rest is handed
    back. A second signal ends it at once; then too nothing is lost.

    Examples:
    skitter worker  (in the project's folder, one process for each core)

    skitter worker --project shop --processes 4 --set redis.url=redis://queue:6379

    skitter worker --spiders shop.spiders.prices --only prices --shards 0-7

    skitter worker --autoscale 0-8
    """
    if project is not None:
        os.chdir(project)
    flags = parse_sets(sets or [])
    if processes is not None:
        flags["worker.processes"] = processes
    if health_port is not None:
        flags["health.worker_port"] = health_port
    settings = load_settings(flags | autoscale_flags(autoscale))
    restriction = Restriction(
        only=tuple(only or ()), hosts=tuple(hosts or ()), shards=parse_shards(shards)
    )
    setup_logs(settings.log, worker=settings.worker.name())
    scaling = Scaling(settings, restriction) if autoscale else None
    work = run_worker(
        settings,
        modules=tuple(spiders or ()),
        restriction=restriction,
        beside=scaling.run if scaling else None,
        processes=scaling.begin if scaling else None,
    )
    raise typer.Exit(asyncio.run(work))


def workers(
    *,
    sets: Sets = None,
    as_json: Annotated[bool, typer.Option("--json", help="For machines.")] = False,
) -> None:
    """List the workers of this frontier, and what each is doing."""
    settings = load_settings(parse_sets(sets or []))
    found = asyncio.run(_list(settings))
    if as_json:
        typer.echo(json.dumps(found, indent=2))
    else:
        Console().print(_table(found))


async def _list(settings: Settings) -> list[dict[str, Any]]:
    async with open_frontier(settings, guest=True) as frontier:
        return await frontier.workers.list()


def _table(found: list[dict[str, Any]]) -> Table:
    table = Table("worker", "state", "spiders", "pages/s", "done", "failed", "in flight",
                  "prefetched", "CPU", "memory")  # fmt: skip
    for said in found:
        spiders = sorted({str(lane["spider"]) for lane in said.get("lanes", [])})
        table.add_row(
            said["name"],
            said.get("state", ""),
            ", ".join(spiders),
            f"{said.get('pages_per_s', 0):.1f}",
            str(said.get("done", 0)),
            str(said.get("failed", 0)),
            str(said.get("in_flight", 0)),
            str(said.get("prefetched", 0)),
            f"{said.get('cpu_percent', 0):.0f} %",
            f"{said.get('memory', 0) / 1024**2:.0f} MiB",
        )
    for said in found:
        for what, error in said.get("errors", {}).items():
            table.add_row(said["name"], "[red]error[/]", what, error)
    return table
