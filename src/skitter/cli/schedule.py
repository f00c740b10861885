"""`skitter schedule …`: jobs that are submitted again and again."""

from __future__ import annotations

import asyncio
import json
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, cast
from zoneinfo import ZoneInfo

import typer
from rich.console import Console
from rich.table import Table

from skitter.cli.options import Sets
from skitter.errors import SettingsError
from skitter.orchestrator.schedule import Schedule, Tick
from skitter.services import Services, open_services
from skitter.settings import load_settings, parse_sets

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from skitter.orchestrator.schedule import CatchUp, Overlap
    from skitter.orchestrator.schedules import ScheduleView

app = typer.Typer(help="Schedules: jobs that are submitted again and again.", no_args_is_help=True)
Name = Annotated[str, typer.Argument(metavar="NAME", help="The schedule.")]
AsJson = Annotated[bool, typer.Option("--json", help="For machines.")]
Pairs = list[str] | None
T = TypeVar("T")


@app.command()
def add(
    *,
    name: Name,
    cron: Annotated[str, typer.Argument(metavar="CRON", help="When: '0 6 * * MON-FRI', @daily.")],
    spider: Annotated[str, typer.Argument(metavar="SPIDER", help="What runs.")],
    args: Annotated[Pairs, typer.Option("--arg", "-a", metavar="NAME=VALUE")] = None,
    seeds: Annotated[Pairs, typer.Option("--seed", metavar="URL", help="A first page.")] = None,
    job: Annotated[
        str, typer.Option(metavar="JSON", help="More fields of the job: '{\"max_pages\": 100}'.")
    ] = "{}",
    timezone: Annotated[str, typer.Option(help="The time zone that CRON is in.")] = "UTC",
    overlap: Annotated[
        str, typer.Option(help="While the last job runs: skip, queue, allow or cancel.")
    ] = "skip",
    catch_up: Annotated[
        str, typer.Option(help="Of ticks that were missed, run: none, last or all.")
    ] = "last",
    catch_up_most: Annotated[int, typer.Option(help="The most of them, with all.")] = 10,
    paused: Annotated[bool, typer.Option(help="Do not tick yet.")] = False,
    sets: Sets = None,
    as_json: AsJson = False,
) -> None:
    """Add a schedule. An orchestrator submits its jobs: skitter orchestrator, or skitter up.

    Example: skitter schedule add prices "0 6 * * MON-FRI" shop -a country=fr --timezone
    Europe/Paris
    """
    fields = _fields(job) | {"spider": spider}
    if args:
        fields["args"] = _pairs(args)
    if seeds:
        fields["seeds"] = seeds
    schedule = Schedule(
        name=name,
        cron=cron,
        timezone=timezone,
        job=fields,
        overlap=cast("Overlap", overlap),  # the service refuses others, in words
        catch_up=cast("CatchUp", catch_up),
        catch_up_most=catch_up_most,
        paused=paused,
    )
    _show(_run(sets, lambda kit: kit.schedules.add(schedule)), as_json=as_json)


@app.command("list")
def list_(*, sets: Sets = None, as_json: AsJson = False) -> None:
    """List all schedules, with their next and their last tick."""
    views = _run(sets, lambda kit: kit.schedules.list())
    if as_json:
        typer.echo(json.dumps([view.to_json() for view in views], indent=2))
        return
    table = Table("schedule", "cron", "spider", "next", "last", "job")
    for view in views:
        schedule, last = view.schedule, view.last
        following = "paused" if schedule.paused else _when(view.next_ticks[:1], schedule.timezone)
        told = f"{last.state} {last.note}".strip() if last else ""
        when, spider = f"{schedule.cron} ({schedule.timezone})", str(schedule.job["spider"])
        table.add_row(schedule.name, when, spider, following, told, last.job if last else "")
    Console().print(table)


@app.command()
def show(*, name: Name, sets: Sets = None, as_json: AsJson = False) -> None:
    """Show a schedule and its next five ticks."""
    _show(_run(sets, lambda kit: kit.schedules.show(name)), as_json=as_json)


@app.command()
def pause(*, name: Name, sets: Sets = None, as_json: AsJson = False) -> None:
    """Let it tick no more until it is resumed."""
    _show(_run(sets, lambda kit: kit.schedules.pause(name)), as_json=as_json)


@app.command()
def resume(*, name: Name, sets: Sets = None, as_json: AsJson = False) -> None:
    """Let it tick again, from now on."""
    _show(_run(sets, lambda kit: kit.schedules.resume(name)), as_json=as_json)


@app.command()
def delete(*, name: Name, sets: Sets = None, as_json: AsJson = False) -> None:
    """Forget a schedule and its history; its jobs go on."""
    _run(sets, lambda kit: kit.schedules.delete(name))
    typer.echo(json.dumps({"deleted": name}) if as_json else f"{name} deleted")


@app.command()
def run(*, name: Name, sets: Sets = None, as_json: AsJson = False) -> None:
    """Submit its job now, whatever else runs."""
    _tell_ticks([_run(sets, lambda kit: kit.schedules.run_now(name))], as_json=as_json)


@app.command()
def ticks(
    *,
    name: Name,
    count: Annotated[int, typer.Option("--count", "-n", min=1, max=1000)] = 5,
    sets: Sets = None,
    as_json: AsJson = False,
) -> None:
    """Say when it ticks next, in its own time zone."""

    async def ask(kit: Services) -> tuple[str, list[datetime]]:
        zone = (await kit.schedules.show(name)).schedule.timezone
        return zone, await kit.schedules.ticks(name, count=count)

    zone, found = _run(sets, ask)
    if as_json:
        typer.echo(json.dumps([tick.isoformat() for tick in found], indent=2))
    else:
        typer.echo("\n".join(_local(tick, zone) for tick in found))


@app.command()
def history(
    *,
    name: Name,
    limit: Annotated[int, typer.Option(min=1, max=10_000)] = 50,
    sets: Sets = None,
    as_json: AsJson = False,
) -> None:
    """Say what became of its ticks, the newest first."""
    _tell_ticks(_run(sets, lambda kit: kit.schedules.history(name, limit=limit)), as_json=as_json)


def _run(sets: Pairs, ask: Callable[[Services], Awaitable[T]]) -> T:
    settings = load_settings(parse_sets(sets or []))

    async def work() -> T:
        async with open_services(settings, guest=True) as kit:
            return await ask(kit)

    return asyncio.run(work())


def _show(view: ScheduleView, *, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(view.to_json(), indent=2))
        return
    schedule = view.schedule
    typer.echo(f"{schedule.name}: {schedule.cron} ({schedule.timezone})")
    typer.echo(f"  job       {json.dumps(schedule.job)}")
    typer.echo(f"  overlap   {schedule.overlap}; catch-up {schedule.catch_up}")
    if schedule.source:
        typer.echo(f"  file      {schedule.source}")
    if view.last:
        typer.echo(f"  last      {_local(view.last.at, schedule.timezone)} {view.last.state}")
    following = "paused" if schedule.paused else _when(view.next_ticks, schedule.timezone)
    typer.echo(f"  next      {following}")


def _tell_ticks(found: list[Tick], *, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps([tick.to_json() for tick in found], indent=2))
        return
    table = Table("tick (UTC)", "state", "job", "note")
    for tick in found:
        when = tick.at.strftime("%Y-%m-%d %H:%M:%S") + (" by hand" if tick.manual else "")
        table.add_row(when, tick.state, tick.job, tick.note)
    Console().print(table)


def _when(moments: list[datetime], zone: str) -> str:
    return "\n            ".join(_local(moment, zone) for moment in moments) or "never again"


def _local(moment: datetime, zone: str) -> str:
    return moment.astimezone(ZoneInfo(zone)).strftime("%Y-%m-%d %H:%M:%S %Z")


def _fields(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError as error:
        raise SettingsError(problems=f"--job is not JSON: {error}") from error
    if not isinstance(found, dict):
        raise SettingsError(problems="--job should be an object: '{\"max_pages\": 100}'")
    return found


def _pairs(texts: list[str]) -> dict[str, str]:
    pairs = [text.partition("=") for text in texts]
    for name, equals, _ in pairs:
        if not (name and equals):
            raise SettingsError(problems=f"-a {name} is not like country=fr")
    return {name: value for name, _, value in pairs}
