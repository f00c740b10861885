"""`skitter crawl`: a spider, a recipe or just URLs; everything that it needs in one command."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from skitter.cli import crawl_report
from skitter.cli.asking import tell_json
from skitter.cli.exporting import check_form, export_job
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
    scope_of,
    seconds_of,
)
from skitter.cli.local_lab import local_lab
from skitter.cli.options import Json, Sets
from skitter.cli.project_spiders import crew_for, judged_spiders, project_spiders
from skitter.cli.screens import screen
from skitter.cli.target import Asked, Target, target_of
from skitter.jobs.submission import Submission
from skitter.logs import setup_logs
from skitter.settings import load_with_origins, parse_sets

if TYPE_CHECKING:
    from skitter.cli.crawling import Ended
    from skitter.settings import Settings


@dataclass(frozen=True)
class Order:
    """A crawl as it was asked for."""

    target: Target
    submission: Submission
    settings: Settings
    out: Path | None
    as_json: bool


def crawl(
    words: Annotated[
        list[str], typer.Argument(metavar="SPIDER|RECIPE|URL…", help="What to crawl.")
    ],
    *,
    spider: Annotated[str | None, typer.Option(help="The spider for the URLs.")] = None,
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
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="A file for the items at the end: .jsonl, .json, .csv, …"),
    ] = None,
    processes: Annotated[
        int | None, typer.Option(min=1, max=1024, help="Worker processes; unsaid, one per core.")
    ] = None,
    job_id: Annotated[str | None, typer.Option("--id", help="An id for the job.")] = None,
    new: Annotated[
        bool, typer.Option("--new", help="A new job, though one like it may be unfinished.")
    ] = False,
    lab: Annotated[
        bool, typer.Option("--lab", help="Serve the demo sites (*.lab) meanwhile.")
    ] = False,
    sets: Sets = None,
    as_json: Json = False,
) -> None:
    """Crawl a spider of the project, a recipe, or just URLs, and store the items.

    Just URLs are read by the spider `link`, which follows links on their hosts; --spider names
    another one, such as ecommerce. Ctrl-C drains; the same command again goes on where it was.
    Exit codes: 0 finished, 1 an error, 2 wrong usage, 3 ended otherwise, 130 by Ctrl-C.

    Examples:
    skitter crawl https://shop.example/ --max-pages 100 -o pages.jsonl

    skitter crawl https://shop.example/ --spider ecommerce -o products.csv

    skitter crawl products -a url=https://shop.example/ --sink jsonl:data

    skitter crawl recipes/shop.yaml
    """
    arguments = pairs("--arg", args)
    asked = Asked(words, spider=spider, args=arguments, max_depth=max_depth)
    target = target_of(asked, spiders=project_spiders)
    if out is not None:
        check_form(out)
    submission = Submission(
        spider=target.spider,
        id=job_id,
        args=target.args,
        seeds=target.seeds,
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
        sinks=tuple(sinks or ()),
        unique=not new,
    )
    with ExitStack() as stack:
        flags = stack.enter_context(local_lab()) if lab else {}
        settings = settings_for(flags, sets, processes=processes, sinks=sinks)
        order = Order(target, submission, settings, out, as_json)
        raise typer.Exit(_finish(order))


def settings_for(
    flags: dict[str, Any], sets: list[str] | None, *, processes: int | None, sinks: list[str] | None
) -> Settings:
    """The settings, with what was said by options; logs are quieter unless told otherwise."""
    flags = flags | parse_sets(sets or [])
    if processes is not None:
        flags["worker.processes"] = processes
    if sinks:
        flags["items.sink"] = sinks
    loaded = load_with_origins(flags)
    if "log.level" in loaded.origins:
        return loaded.settings
    log = loaded.settings.log.model_copy(update={"level": "warning"})
    return loaded.settings.model_copy(update={"log": log})


def _finish(order: Order) -> int:
    """Crawl, tell what came of it, and the code that says it."""
    from skitter.cli import crawling  # noqa: PLC0415 - loads all services

    settings = order.settings
    log = settings.embedded.dir / "crawl.log"
    with screen(log) as shown:
        setup_logs(settings.log)
        if order.target.told:
            shown.say(order.target.told)
        work = crawling.Order(
            settings=settings,
            submission=order.submission,
            crew=crew_for(order.target),
            spiders=judged_spiders,
            screen=shown,
        )
        # Not on uvloop, which cannot put children in process groups of their own.
        ended = asyncio.run(crawling.crawl(work))
    exported = _export(order, ended)
    sinks = settings.items.sink
    if order.as_json:
        tell_json(crawl_report.values(ended, sinks=sinks, exported=exported))
    else:
        crawl_report.show(ended, Console(), sinks=sinks, exported=exported)
    return crawl_report.exit_code(ended)


def _export(order: Order, ended: Ended) -> dict[str, Any]:
    """The items in the file that was asked for; a crawl that was cut short has no file yet."""
    if order.out is None or ended.record.state != "ended":
        return {}
    sink = order.settings.items.sink[0]
    return {"file": str(order.out), "items": export_job(sink, ended.record.job.id, order.out)}
