"""`skitter dlq`: requests that were given up; look at them, try them again, or throw them away."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from skitter.cli.asking import ask, tell_json
from skitter.cli.dlq_view import Groups, group_table, letter_table, letter_values, letters_table
from skitter.cli.options import Json, Sets

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence

    from skitter.frontier import Frontier, Request
    from skitter.frontier.dead import DeadLetter, LetterPage

    Act = Callable[[Frontier, Sequence[DeadLetter]], Awaitable[list[bool]]]

app = typer.Typer(help="Dead letters: requests that were given up.", no_args_is_help=True)

TOLD_EACH = 10_000
Ids = Annotated[list[str] | None, typer.Argument(metavar="ID", help="Which ones.")]
Id = Annotated[str, typer.Argument(metavar="ID", help="Which one; `skitter dlq list` has them.")]
JobName = Annotated[str, typer.Option("--job", help="Only this job's.")]
Reason = Annotated[str, typer.Option("--reason", help="Only those of this reason.")]
HostName = Annotated[str, typer.Option("--host", help="Only this host's.")]
All = Annotated[bool, typer.Option("--all", help="All there are, of every job and host.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only tell what would be done.")]
Limit = Annotated[
    int | None, typer.Option("--limit", "-n", min=1, help="No more than so many, the newest.")
]


@dataclass(frozen=True)
class Selection:
    """Which dead letters are meant: some by id, or those that fit."""

    ids: tuple[str, ...] = ()
    job: str = ""
    reason: str = ""
    host: str = ""
    limit: int | None = None

    async def parts(self, frontier: Frontier) -> AsyncGenerator[list[DeadLetter], None]:
        """The newest first, some at a time."""
        if self.ids:
            yield await frontier.dead.named(self.ids)
            return
        async for part in frontier.dead.parts(
            job=self.job, reason=self.reason, host=self.host, limit=self.limit
        ):
            yield part

    async def groups(self, frontier: Frontier) -> Groups:
        """How many there are of each host and reason."""
        groups = Groups()
        async for part in self.parts(frontier):
            groups.add(part)
        return groups

    def check(self, everything: bool) -> None:
        """Nothing is done to all there are because an option was forgotten."""
        if not (self.ids or self.job or self.reason or self.host or everything):
            raise typer.BadParameter("say which: IDs, --job, --reason, --host, or --all")


@app.command("list")
def list_letters(
    *,
    job: JobName = "",
    reason: Reason = "",
    host: HostName = "",
    after: Annotated[
        str | None, typer.Option(help="Go on from here: what --json calls next.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=1000)] = 20,
    sets: Sets = None,
    as_json: Json = False,
) -> None:
    """List dead letters, the newest first.

    Example: skitter dlq list --job books --reason timeout
    """

    async def question(frontier: Frontier) -> LetterPage:
        return await frontier.dead.page(job=job, reason=reason, host=host, after=after, limit=limit)

    page = ask(sets, question)
    if as_json:
        tell_json({"letters": list(map(letter_values, page.letters)), "next": page.next})
        return
    if page.letters:
        Console().print(letters_table(page.letters))
    elif not page.next:
        typer.echo("no dead letters", err=True)
    if page.next:
        typer.echo(f"more: the same with --after {page.next}", err=True)


@app.command()
def group(
    *,
    job: JobName = "",
    reason: Reason = "",
    host: HostName = "",
    sets: Sets = None,
    as_json: Json = False,
) -> None:
    """Count dead letters by host and reason, with the last error of each.

    Example: skitter dlq group --job books
    """
    found = ask(sets, Selection(job=job, reason=reason, host=host).groups).values()
    if as_json:
        tell_json(found)
    elif found:
        Console().print(group_table(found))
    else:
        typer.echo("no dead letters", err=True)


@app.command()
def show(letter_id: Id, *, sets: Sets = None, as_json: Json = False) -> None:
    """Show one dead letter with all that is known of its request.

    Example: skitter dlq show 5f1c0a9d3b77e2d4-0
    """
    values = letter_values(_one(letter_id, sets))
    if as_json:
        tell_json(values)
    else:
        Console().print(letter_table(values))


@app.command()
def replay(
    ids: Ids = None,
    *,
    job: JobName = "",
    reason: Reason = "",
    host: HostName = "",
    limit: Limit = None,
    everything: All = False,
    dry_run: DryRun = False,
    sets: Sets = None,
    as_json: Json = False,
) -> None:
    """Try requests again: they are queued first in line, with all their attempts before them.

    A job that has ended takes nothing more: `skitter jobs retry JOB` crawls its dead letters anew.

    Example: skitter dlq replay --host shop.example --reason timeout --dry-run
    """
    chosen = Selection(tuple(ids or ()), job, reason, host, limit)
    chosen.check(everything)

    async def act(frontier: Frontier, letters: Sequence[DeadLetter]) -> list[bool]:
        return await frontier.dead.replay(letters)

    _act("replayed", chosen, act, sets, dry_run=dry_run, as_json=as_json)


@app.command()
def edit(
    letter_id: Id,
    *,
    url: Annotated[str | None, typer.Option(help="Another URL, on the same host.")] = None,
    callback: Annotated[str | None, typer.Option(help="Another method of the spider.")] = None,
    method: Annotated[str | None, typer.Option(help="GET, POST, ….")] = None,
    body: Annotated[str | None, typer.Option(help="Another body.")] = None,
    priority: Annotated[int | None, typer.Option(help="Higher is sooner.")] = None,
    headers: Annotated[
        list[str] | None,
        typer.Option("--header", metavar="NAME:VALUE", help="Set a header; may be repeated."),
    ] = None,
    dry_run: DryRun = False,
    sets: Sets = None,
    as_json: Json = False,
) -> None:
    """Change a request, and try it again as it then is.

    Example: skitter dlq edit 5f1c0a9d3b77e2d4-0 --url https://shop.example/p/12
    """
    named = {"url": url, "callback": callback, "method": method, "priority": priority}
    changes: dict[str, Any] = {name: value for name, value in named.items() if value is not None}
    if body is not None:
        changes["body"] = body.encode()
    added = dict(_header(text) for text in headers or [])
    if not (changes or added):
        raise typer.BadParameter("say what to change: --url, --callback, --header, …")

    def changed(request: Request) -> Request:
        return replace(request, **changes, headers=request.headers | added)

    async def act(frontier: Frontier, letters: Sequence[DeadLetter]) -> list[bool]:
        return await frontier.dead.replay(letters, edit=changed)

    _act("replayed", Selection((letter_id,)), act, sets, dry_run=dry_run, as_json=as_json)


@app.command()
def discard(
    ids: Ids = None,
    *,
    job: JobName = "",
    reason: Reason = "",
    host: HostName = "",
    limit: Limit = None,
    everything: All = False,
    dry_run: DryRun = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    sets: Sets = None,
    as_json: Json = False,
) -> None:
    """Throw dead letters away for good.

    Example: skitter dlq discard --job books --reason 404
    """
    chosen = Selection(tuple(ids or ()), job, reason, host, limit)
    chosen.check(everything)
    if not (dry_run or yes):
        _confirm(ask(sets, chosen.groups).letters)

    async def act(frontier: Frontier, letters: Sequence[DeadLetter]) -> list[bool]:
        return await frontier.dead.discard(letters)

    _act("discarded", chosen, act, sets, dry_run=dry_run, as_json=as_json)


def _act(
    done: str,
    chosen: Selection,
    act: Act,
    sets: list[str] | None,
    *,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Do it to all that is chosen, unless it is a dry run, and tell what came of it."""

    async def question(frontier: Frontier) -> tuple[Groups, int]:
        groups, number = Groups(), 0
        async for part in chosen.parts(frontier):
            groups.add(part)
            number += 0 if dry_run else sum(await act(frontier, part))
            if part and groups.letters % TOLD_EACH == 0:
                typer.echo(f"{groups.letters:,} so far", err=True)
        return groups, number

    groups, number = ask(sets, question)
    found = groups.letters
    if as_json:
        told = {"chosen": found, done: number, "dry_run": dry_run, "groups": groups.values()}
        tell_json(told)
    else:
        if found:
            Console().print(group_table(groups.values()))
        what = f"would be {done}" if dry_run else done
        typer.echo(f"{found if dry_run else number:,} of {found:,} {what}")
    if not dry_run and number < found:
        typer.echo("the others are gone, or their job has ended: skitter jobs retry JOB", err=True)
    if not found or (number == 0 and not dry_run):
        raise typer.Exit(1)


def _one(letter_id: str, sets: list[str] | None) -> DeadLetter:
    async def question(frontier: Frontier) -> list[DeadLetter]:
        return await frontier.dead.named([letter_id])

    found = ask(sets, question)
    if not found:
        typer.echo(f"Error: there is no dead letter {letter_id}", err=True)
        raise typer.Exit(1)
    return found[0]


def _confirm(number: int) -> None:
    if not sys.stdin.isatty():
        raise typer.BadParameter("nobody can be asked here: add --yes")
    typer.confirm(f"Throw {number:,} dead letters away for good?", abort=True)


def _header(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not (name.strip() and colon):
        raise typer.BadParameter(f"--header {text} is not NAME:VALUE")
    return name.strip(), value.strip()
