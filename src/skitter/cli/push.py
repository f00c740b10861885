"""`skitter push`: URLs from arguments, files, standard input and sitemaps into a job.

The reading and the pushing are `skitter.jobs`'s; here are the options, the progress bar on a
terminal, and the counts at the end, which are told also when the push is cut short.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import stat
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from skitter.cli.options import Sets
from skitter.cli.push_report import Reporter, show, values
from skitter.errors import SkitterError
from skitter.frontier.opening import open_frontier
from skitter.jobs import (
    Defaults,
    Push,
    SitemapSource,
    Tally,
    held_open,
    seeds_of_file,
    seeds_of_urls,
    stand,
)
from skitter.jobs.permitted import PermittedFetcher, open_session
from skitter.jobs.sitemap_source import is_url
from skitter.jobs.sitemaps import MAX_BYTES
from skitter.lab.run import run_fast
from skitter.logs import setup_logs
from skitter.settings import load_settings, parse_sets

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterator

    from skitter.jobs import Seed
    from skitter.settings import Settings


@dataclass(frozen=True)
class Plan:
    """What is to be pushed, and where."""

    defaults: Defaults
    urls: list[str]
    files: list[Path]
    sitemaps: list[str]
    batch: int
    spider: str | None = None
    args: dict[str, str] = field(default_factory=dict)

    def size(self) -> int | None:
        """How many bytes are to be read, if it can be known."""
        if self.sitemaps or not self.files or not all(map(_is_regular, self.files)):
            return None
        return sum(path.stat().st_size for path in self.files)


def push(
    *,
    urls: Annotated[list[str] | None, typer.Argument(metavar="URL")] = None,
    job: Annotated[str, typer.Option(help="The job's id.")],
    files: Annotated[
        list[str] | None,
        typer.Option(
            "--file", help="URLs or JSON objects, one a line; - is stdin. May be repeated."
        ),
    ] = None,
    sitemaps: Annotated[
        list[str] | None,
        typer.Option("--sitemap", help="A sitemap's URL or file. May be repeated."),
    ] = None,
    spider: Annotated[
        str | None, typer.Option(help="Submit the job for this spider, if it does not stand.")
    ] = None,
    args: Annotated[
        list[str] | None,
        typer.Option("--arg", metavar="NAME=VALUE", help="An argument of the spider."),
    ] = None,
    callback: Annotated[
        str, typer.Option(help="The spider's method for what names none: parse, unless told.")
    ] = "",
    priority: Annotated[int, typer.Option(help="For what names none; higher is sooner.")] = 0,
    batch: Annotated[int, typer.Option(min=1, max=10_000, help="Requests sent at a time.")] = 1000,
    sets: Sets = None,
    as_json: Annotated[bool, typer.Option("--json", help="For machines.")] = False,
) -> None:
    """Push URLs to a job, and tell which were new, which known, and which refused and why.

    Example: skitter push --job books --spider books --sitemap https://books.example/sitemap.xml
    """
    settings = load_settings(parse_sets(sets or []))
    plan = Plan(
        defaults=Defaults(job=job, callback=callback, priority=priority),
        urls=urls or [],
        files=[Path(_existing("--file", name)) for name in files or []],
        sitemaps=[_existing("--sitemap", place) for place in sitemaps or []],
        batch=batch,
        spider=spider,
        args=dict(_argument(text) for text in args or []),
    )
    if not (plan.urls or plan.files or plan.sitemaps):
        raise typer.BadParameter("nothing to push: give URLs, --file or --sitemap")
    setup_logs(settings.log)
    _finish(plan, settings, as_json=as_json)


def _finish(plan: Plan, settings: Settings, *, as_json: bool) -> None:
    """Push, tell the counts whatever happened, and end with the code that says it."""
    tally, begun = Tally(), time.monotonic()
    code, trouble = 0, None
    try:
        code = run_fast(_interruptible(plan, settings, tally))
    except SkitterError as error:
        trouble = error
    if trouble is None or tally.read:
        outcome = values(tally, job=plan.defaults.job, seconds=time.monotonic() - begun)
        outcome["interrupted"] = code != 0
        if as_json:
            typer.echo(json.dumps(outcome, indent=2))
        else:
            show(tally, outcome, Console())
    if trouble is not None:
        raise trouble
    if code == 0 and tally.read and tally.turned_down == tally.read:
        typer.echo(f"Error: every URL was refused: {'; '.join(tally.refused)}", err=True)
        code = 1
    raise typer.Exit(code)


async def _interruptible(plan: Plan, settings: Settings, tally: Tally) -> int:
    """Push until done or told to stop; 0, or the code that the signal stands for."""
    loop, told = asyncio.get_running_loop(), []
    pushing = asyncio.create_task(_push(plan, settings, tally))

    def stop(number: int) -> None:
        told.append(number)
        pushing.cancel()
        for each in (signal.SIGINT, signal.SIGTERM):  # a second one is not waited for
            loop.remove_signal_handler(each)

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop, number)
    try:
        await pushing
    except asyncio.CancelledError:
        if not told:
            raise
    return 128 + told[0] if told else 0


async def _push(plan: Plan, settings: Settings, tally: Tally) -> None:
    job = plan.defaults.job
    # A name of its own: worker.id may be that of a worker which runs on this machine.
    worker = f"push-{socket.gethostname()}-{os.getpid()}"
    async with open_frontier(settings, worker=worker, guest=True) as frontier:
        submitted = await stand(frontier, job, spider=plan.spider, args=plan.args)
        async with held_open(frontier, job), open_session(settings.fetch) as session:
            if submitted:
                await frontier.jobs.release_hold(job)
            fetcher = PermittedFetcher(
                frontier, session, wait_s=settings.politeness.max_delay_s, max_bytes=MAX_BYTES
            )
            with Reporter(tally, total=plan.size()) as reporter:
                pushing = Push(frontier, tally=tally, batch=plan.batch, on_group=reporter.update)
                await pushing.run(_sources(plan, settings, tally, fetcher))


def _sources(
    plan: Plan, settings: Settings, tally: Tally, fetcher: PermittedFetcher
) -> Iterator[AsyncGenerator[list[Seed], None]]:
    if plan.urls:
        yield seeds_of_urls(plan.urls, plan.defaults)
    longest = 2 * settings.frontier.max_request_bytes  # JSON writes some characters with six
    for path in plan.files:
        yield seeds_of_file(path, plan.defaults, longest=longest, on_read=tally.count_bytes)
    sitemaps = SitemapSource(fetcher, plan.defaults)
    for location in plan.sitemaps:
        yield sitemaps.seeds(location)


def _is_regular(path: Path) -> bool:
    return str(path) != "-" and stat.S_ISREG(path.stat().st_mode)


def _existing(option: str, place: str) -> str:
    """A typing error is better told before anything is pushed."""
    path = Path(place)
    is_elsewhere = is_url(place) if option == "--sitemap" else place == "-"
    if not is_elsewhere and (path.is_dir() or not path.exists()):
        raise typer.BadParameter(f"{option} {place}: there is no such file")
    return place


def _argument(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise typer.BadParameter(f"--arg {text} is not NAME=VALUE")
    return name, value
