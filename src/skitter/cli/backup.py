"""`skitter backup` and `skitter restore`: all that is kept, as it was at one moment."""

from __future__ import annotations

import asyncio
import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from skitter.cli.options import Sets
from skitter.logs import setup_logs
from skitter.services import open_services
from skitter.settings import Settings, load_settings, parse_sets

AsJson = Annotated[bool, typer.Option("--json", help="For machines.")]


def backup(
    *,
    path: Annotated[Path, typer.Argument(metavar="PATH", help="A folder that is not there yet.")],
    pause: Annotated[
        float, typer.Option(min=0.1, max=600, help="How long writes may wait, in seconds.")
    ] = 20.0,
    sets: Sets = None,
    as_json: AsJson = False,
) -> None:
    """Copy the frontier, the store and the items of a crawl, while it runs.

    Workers wait for as long as the frontier is copied, and then go on. Items in databases of
    other kinds are left out, and named.

    Example: skitter backup /backups/monday
    """
    from skitter.orchestrator.backup import Manifest  # noqa: PLC0415 - seldom needed
    from skitter.orchestrator.backup import backup as make  # noqa: PLC0415 - the same

    settings = load_settings(parse_sets(sets or []))
    setup_logs(settings.log)

    async def work() -> Manifest:
        async with open_services(settings, guest=True) as services:
            return await make(services, path, longest_s=pause)

    manifest = asyncio.run(work())
    if as_json:
        typer.echo(json.dumps(asdict(manifest), indent=2))
        return
    typer.echo(f"{path}: {manifest.keys:,} keys, copied while writes waited {manifest.pause_s:g} s")
    for sink in manifest.left_out:
        typer.echo(f"Not in it: {sink}, which has backups of its own")


def restore(
    *,
    path: Annotated[Path, typer.Argument(metavar="PATH", help="What `skitter backup` made.")],
    force: Annotated[
        bool, typer.Option("--force", help="Delete what stands where it belongs.")
    ] = False,
    sets: Sets = None,
    as_json: AsJson = False,
) -> None:
    """Put a backup back. No worker and no orchestrator may run meanwhile.

    What was done since the backup is done again; what was in workers' hands is queued; hosts are
    left alone for a while, since nobody knows when they were asked last.

    Example: skitter restore /backups/monday && skitter up
    """
    from skitter.orchestrator.backup import restore as put_back  # noqa: PLC0415 - seldom needed

    settings: Settings = load_settings(parse_sets(sets or []))
    setup_logs(settings.log)
    done = asyncio.run(put_back(settings, path, force=force))
    if as_json:
        typer.echo(json.dumps(done, indent=2))
    else:
        typer.echo(
            f"{done['keys']:,} keys, as of {done['made_at']}; in hand were {done['requeued']}"
        )
