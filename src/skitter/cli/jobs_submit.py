"""`skitter jobs submit`, `clone` and `wait`: jobs for the workers that there are."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
import yaml
from rich.console import Console

from skitter.cli.asking import ask_services, tell_json
from skitter.cli.job_options import (
    Allow,
    Args,
    Attrs,
    Concurrency,
    Delay,
    Deny,
    Domains,
    Expires,
    Labels,
    MaxDepth,
    MaxPages,
    MaxPerHost,
    NoRobots,
    Priority,
    Sinks,
    attrs_of,
    pairs,
    read_submission,
    scope_of,
    seconds_of,
)
from skitter.cli.jobs import Id, Ids, app
from skitter.cli.jobs_view import FINE, job_table, jobs_table
from skitter.cli.options import Json, Sets
from skitter.jobs.submission import Submission

if TYPE_CHECKING:
    from skitter.jobs.view import JobView
    from skitter.services import Services

__all__ = ["app"]

POLL_S = 0.5


@app.command()
def submit(
    spider: Annotated[str | None, typer.Argument(help="The spider's name.")] = None,
    seeds: Annotated[
        list[str] | None,
        typer.Argument(metavar="URL…", help="Its first pages; unsaid, its start()."),
    ] = None,
    *,
    file: Annotated[
        Path | None, typer.Option("--file", "-f", help="All of it from a YAML or JSON file.")
    ] = None,
    job_id: Annotated[str | None, typer.Option("--id", help="An id of your own.")] = None,
    args: Args = None,
    max_pages: MaxPages = None,
    max_depth: MaxDepth = None,
    max_per_host: MaxPerHost = None,
    expires: Expires = None,
    priority: Priority = 0,
    delay_s: Delay = None,
    concurrency: Concurrency = None,
    no_robots: NoRobots = False,
    domains: Domains = None,
    allow: Allow = None,
    deny: Deny = None,
    labels: Labels = None,
    attrs: Attrs = None,
    sinks: Sinks = None,
    project: Annotated[str, typer.Option(help="A name that jobs are kept apart by.")] = "default",
    unique: Annotated[
        bool, typer.Option("--unique", help="Refuse it while one like it is live.")
    ] = False,
    sets: Sets = None,
    as_json: Json = False,
) -> None:
    """Submit a job for the workers that there are; `skitter crawl` brings its own.

    Examples:
    skitter jobs submit products -a url=https://shop.example/ --max-pages 1000

    skitter jobs submit --file job.yaml  (the fields of docs/jobs.md)
    """
    if (spider is None) == (file is None):
        raise typer.BadParameter("give a spider, or --file")
    if file is not None:
        submission = Submission.from_json(read_submission(file))
    else:
        submission = Submission(
            spider=str(spider),
            id=job_id,
            args=pairs("--arg", args),
            seeds=tuple(seeds or ()),
            scope=scope_of(domains, allow, deny),
            priority=priority,
            max_pages=max_pages,
            max_depth=max_depth,
            max_per_host=max_per_host,
            expires_s=seconds_of("--expires", expires),
            delay_s=delay_s,
            concurrency=concurrency,
            robots=not no_robots,
            attrs=attrs_of(attrs),
            labels=pairs("--label", labels),
            project=project,
            sinks=tuple(sinks or ()),
            unique=unique,
        )
    _tell_new(
        ask_services(sets, lambda services: services.jobs.submit(submission)), as_json=as_json
    )


@app.command()
def clone(
    job: Id,
    *,
    edits: Annotated[
        list[str] | None,
        typer.Option("--edit", metavar="FIELD=VALUE", help="Change a field: max_pages=10."),
    ] = None,
    args: Args = None,
    sets: Sets = None,
    as_json: Json = False,
) -> None:
    """Submit a job once more, with some of its fields changed.

    Example: skitter jobs clone books --edit max_pages=10 -a url=https://other.example/
    """
    changes: dict[str, Any] = {
        name: yaml.safe_load(value) for name, value in pairs("--edit", edits).items()
    }
    for name in ("seeds", "sinks"):
        if name in changes:
            changes[name] = tuple(changes[name])

    async def question(services: Services) -> JobView:
        if args:
            changes["args"] = (await services.jobs.show(job)).args | pairs("--arg", args)
        return await services.jobs.clone(job, **changes)

    _tell_new(ask_services(sets, question), as_json=as_json)


@app.command()
def wait(
    jobs: Ids,
    *,
    timeout: Annotated[
        str | None, typer.Option(metavar="30m", help="Wait no longer; then the code is 1.")
    ] = None,
    sets: Sets = None,
    as_json: Json = False,
) -> None:
    """Wait until jobs have ended. The exit code is 0 if all finished, 3 if one ended otherwise.

    Example: skitter jobs wait books --timeout 2h
    """
    timeout_s = seconds_of("--timeout", timeout)

    async def question(services: Services) -> list[JobView]:
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        return [await _ended(services, job, deadline) for job in jobs]

    found = ask_services(sets, question)
    if as_json:
        tell_json([job.to_json() for job in found])
    else:
        Console().print(jobs_table(found))
    if not all(job.ended for job in found):
        typer.echo(f"Error: not all have ended within {timeout}", err=True)
        raise typer.Exit(1)
    if not all(job.outcome in FINE for job in found):
        raise typer.Exit(3)


async def _ended(services: Services, job: str, deadline: float | None) -> JobView:
    """A job once it has ended, or as it is when time is up."""
    while True:
        view = await services.jobs.show(job)
        if view.ended or (deadline is not None and time.monotonic() >= deadline):
            return view
        await asyncio.sleep(POLL_S)


def _tell_new(job: JobView, *, as_json: bool) -> None:
    if as_json:
        tell_json(job.to_json())
        return
    Console().print(job_table(job))
    typer.echo(f"wait for it: skitter jobs wait {job.id}", err=True)
