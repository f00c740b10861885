"""`skitter jobs`: submit them, find them, change them, wait for them."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from skitter.cli.asking import ask_services, tell_json
from skitter.cli.jobs_view import errors_table, job_table, jobs_table, requests_table
from skitter.cli.options import Json, Sets
from skitter.cli.stored import time_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from skitter.frontier import Request
    from skitter.jobs.view import JobPage, JobView
    from skitter.services import Services

app = typer.Typer(help="Jobs: submit, find, change, wait for them.", no_args_is_help=True)

Id = Annotated[str, typer.Argument(metavar="JOB", help="The job's id.")]
Ids = Annotated[list[str], typer.Argument(metavar="JOB…", help="Ids of jobs.")]
Filter = Annotated[str | None, typer.Option()]


@app.command("list")
def list_jobs(
    *,
    state: Annotated[str | None, typer.Option(help="queued, running, paused or ended.")] = None,
    outcome: Annotated[str | None, typer.Option(help="finished, failed, cancelled, ….")] = None,
    spider: Annotated[str | None, typer.Option(help="Of this spider.")] = None,
    project: Annotated[str | None, typer.Option(help="Of this project.")] = None,
    label: Annotated[str | None, typer.Option(metavar="NAME=VALUE", help="With a label.")] = None,
    text: Annotated[str | None, typer.Option(help="With these words in id, arguments, …")] = None,
    since: Annotated[str | None, typer.Option(help="Submitted since: 12h, 7d, 2026-11-16.")] = None,
    until: Annotated[str | None, typer.Option(help="Submitted until.")] = None,
    after: Annotated[
        str | None, typer.Option(help="Go on from here: what --json calls next.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=1000)] = 20,
    sets: Sets = None,
    as_json: Json = False,
) -> None:
    """List jobs, the newest first, live and ended.

    Example: skitter jobs list --state running --spider products
    """
    filters: dict[str, Any] = {
        "state": state, "outcome": outcome, "spider": spider, "project": project, "text": text,
        "label": _label(label), "since": _time("--since", since),
        "until": _time("--until", until),
    }  # fmt: skip
    given = {name: value for name, value in filters.items() if value is not None}

    async def question(services: Services) -> JobPage:
        return await services.jobs.list(after=after, limit=limit, **given)

    page = ask_services(sets, question)
    if as_json:
        tell_json({"jobs": [job.to_json() for job in page.jobs], "next": page.next})
    elif page.jobs:
        Console().print(jobs_table(page.jobs))
        if page.next:
            typer.echo(f"more: skitter jobs list --after {page.next}", err=True)
    else:
        typer.echo("no jobs", err=True)


@app.command()
def show(job: Id, *, sets: Sets = None, as_json: Json = False) -> None:
    """Show a job: its state, what it waits for, its figures.

    Example: skitter jobs show books-261116-081500-a1b2c3
    """
    _tell(ask_services(sets, lambda services: services.jobs.show(job)), as_json=as_json)


@app.command()
def pause(jobs: Ids, *, sets: Sets = None, as_json: Json = False) -> None:
    """Lease nothing more of jobs; workers give back what they have not begun.

    Example: skitter jobs pause books
    """
    _each(jobs, lambda services, job: services.jobs.pause(job), sets, as_json=as_json)


@app.command()
def resume(jobs: Ids, *, sets: Sets = None, as_json: Json = False) -> None:
    """Go on with paused jobs.

    Example: skitter jobs resume books
    """
    _each(jobs, lambda services, job: services.jobs.resume(job), sets, as_json=as_json)


@app.command()
def stop(jobs: Ids, *, sets: Sets = None, as_json: Json = False) -> None:
    """End jobs now, as cancelled; what is queued is thrown away, items stay.

    Example: skitter jobs stop books quotes
    """
    _each(jobs, lambda services, job: services.jobs.stop(job), sets, as_json=as_json)


@app.command()
def reprioritise(
    job: Id,
    priority: Annotated[int, typer.Argument(help="Higher is sooner.")],
    *,
    sets: Sets = None,
    as_json: Json = False,
) -> None:
    """Give all that a job has queued another priority.

    Example: skitter jobs reprioritise books 100
    """

    async def question(services: Services) -> JobView:
        return await services.jobs.reprioritise(job, priority)

    _tell(ask_services(sets, question), as_json=as_json)


@app.command()
def retry(job: Id, *, sets: Sets = None, as_json: Json = False) -> None:
    """Try only what failed again: in the job itself while it lives, else in a new one.

    Example: skitter jobs retry books
    """
    _tell(ask_services(sets, lambda services: services.jobs.retry_failed(job)), as_json=as_json)


@app.command()
def delete(jobs: Ids, *, sets: Sets = None, as_json: Json = False) -> None:
    """Forget ended jobs, with their history and dead letters. Their items stay.

    Example: skitter jobs delete books-261116-081500-a1b2c3
    """

    async def question(services: Services) -> None:
        for job in jobs:
            await services.jobs.delete(job)

    ask_services(sets, question)
    if as_json:
        tell_json({"deleted": jobs})
    else:
        typer.echo(f"{len(jobs)} deleted")


@app.command()
def peek(
    job: Id,
    *,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=1000)] = 20,
    sets: Sets = None,
    as_json: Json = False,
) -> None:
    """Show what is upcoming: the heads of a job's queues at the hosts that are next.

    Example: skitter jobs peek books -n 50
    """

    async def question(services: Services) -> list[Request]:
        return await services.jobs.peek(job, limit)

    found = ask_services(sets, question)
    if as_json:
        tell_json([asdict(request) for request in found])
    elif found:
        Console().print(requests_table(found))
    else:
        typer.echo("nothing is queued", err=True)


@app.command()
def errors(job: Id, *, sets: Sets = None, as_json: Json = False) -> None:
    """Count what went wrong in a job, by reason and error.

    Example: skitter jobs errors books
    """
    found = ask_services(sets, lambda services: services.jobs.errors(job))
    if as_json:
        tell_json(found)
    elif found:
        Console().print(errors_table(found))
    else:
        typer.echo("no errors", err=True)


def _each(
    jobs: list[str],
    act: Callable[[Services, str], Awaitable[JobView]],
    sets: list[str] | None,
    *,
    as_json: bool,
) -> None:
    """Do the same to several jobs, and show them as they then are."""

    async def question(services: Services) -> list[JobView]:
        return [await act(services, job) for job in jobs]

    found = ask_services(sets, question)
    if as_json:
        tell_json([job.to_json() for job in found])
    else:
        Console().print(jobs_table(found))


def _tell(job: JobView, *, as_json: bool) -> None:
    if as_json:
        tell_json(job.to_json())
    else:
        Console().print(job_table(job))


def _label(text: str | None) -> tuple[str, str] | None:
    if text is None:
        return None
    name, equals, value = text.partition("=")
    if not equals:
        raise typer.BadParameter(f"--label {text} is not NAME=VALUE")
    return name, value


def _time(option: str, text: str | None) -> datetime | None:
    found = time_of(option, text)
    return datetime.fromisoformat(found) if found else None
