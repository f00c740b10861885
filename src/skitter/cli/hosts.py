"""`skitter hosts`: which hosts are busy or in trouble, and how each is asked."""

from __future__ import annotations

from dataclasses import asdict
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from skitter.cli.asking import ask, tell_json
from skitter.cli.host_view import details, pace_ms, ranking_table
from skitter.cli.options import Json, Sets
from skitter.frontier.policy import HostPolicy

if TYPE_CHECKING:
    from skitter.frontier import Frontier
    from skitter.frontier.hosts import HostState

app = typer.Typer(help="Hosts: a ranking, and how each is asked.", no_args_is_help=True)

Host = Annotated[str, typer.Argument(metavar="HOST", help="A host name, such as shop.example.")]


class By(StrEnum):
    QUEUED = "queued"
    FETCHED = "fetched"
    FAILED = "failed"


@app.command("list")
def list_hosts(
    *,
    by: Annotated[By, typer.Option(help="What is ranked.")] = By.QUEUED,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=10_000)] = 20,
    sets: Sets = None,
    as_json: Json = False,
) -> None:
    """List the hosts at the top: most queued, most fetched, or most failures.

    Example: skitter hosts list --by failed -n 50
    """

    async def question(frontier: Frontier) -> list[dict[str, Any]]:
        states = await frontier.hosts.ranking(by.value, limit=limit)
        return [_values(state, frontier) for state in states]

    found = ask(sets, question)
    if as_json:
        tell_json(found)
    elif found:
        Console().print(ranking_table(found))
    else:
        typer.echo(f"no host has two or more {by.value}", err=True)  # one alone is not ranked


@app.command()
def show(host: Host, *, sets: Sets = None, as_json: Json = False) -> None:
    """Show how a host stands and how it is asked: its delay, and where that comes from.

    Example: skitter hosts show shop.example
    """
    _tell(host, None, sets, as_json=as_json)


@app.command("set")
def set_policy(
    host: Host,
    *,
    delay_s: Annotated[
        float | None, typer.Option("--delay", min=0, max=86_400, help="Seconds between requests.")
    ] = None,
    concurrency: Annotated[
        int | None, typer.Option(min=1, max=10_000, help="Requests at once, where no delay is.")
    ] = None,
    budget: Annotated[
        int | None, typer.Option(min=1, help="The most requests in each --budget-s.")
    ] = None,
    budget_s: Annotated[
        float | None, typer.Option(min=1, max=31_536_000, help="How long a budget lasts.")
    ] = None,
    sets: Sets = None,
    as_json: Json = False,
) -> None:
    """Set a host's policy, at once and for all workers. What is not named stays as it is.

    robots.txt and Retry-After can make it slower than that, never faster.

    Examples:
    skitter hosts set shop.example --delay 5

    skitter hosts set api.example --delay 0 --concurrency 2 --budget 1000 --budget-s 86400
    """
    if (budget is None) != (budget_s is None):
        raise typer.BadParameter("--budget and --budget-s go together")
    policy = HostPolicy(
        delay_ms=None if delay_s is None else round(delay_s * 1000),
        concurrency=concurrency,
        budget=budget,
        budget_ms=None if budget_s is None else round(budget_s * 1000),
    )
    if policy == HostPolicy():
        raise typer.BadParameter("say what to set: --delay, --concurrency, or a --budget")
    _tell(host, policy, sets, as_json=as_json)


@app.command()
def block(host: Host, *, sets: Sets = None, as_json: Json = False) -> None:
    """Ask a host nothing more, until it is unblocked; its requests wait.

    Example: skitter hosts block shop.example
    """
    _tell(host, HostPolicy(blocked=True), sets, as_json=as_json)


@app.command()
def unblock(host: Host, *, sets: Sets = None, as_json: Json = False) -> None:
    """Go on with a host that was blocked.

    Example: skitter hosts unblock shop.example
    """
    _tell(host, HostPolicy(blocked=False), sets, as_json=as_json)


@app.command()
def clear(host: Host, *, sets: Sets = None, as_json: Json = False) -> None:
    """Forget a host's own policy: the settings and the jobs count again. It is unblocked, too.

    Example: skitter hosts clear shop.example
    """

    async def question(frontier: Frontier) -> dict[str, Any]:
        await frontier.hosts.clear_policy(host)
        return _values(await frontier.hosts.state(host), frontier)

    _print(ask(sets, question), as_json=as_json)


def _tell(host: str, policy: HostPolicy | None, sets: list[str] | None, *, as_json: bool) -> None:
    """Set a policy, if there is one to set, and show the host as it then is."""

    async def question(frontier: Frontier) -> dict[str, Any]:
        if policy is not None:
            await frontier.hosts.set_policy(host, policy)
        return _values(await frontier.hosts.state(host), frontier)

    _print(ask(sets, question), as_json=as_json)


def _values(state: HostState, frontier: Frontier) -> dict[str, Any]:
    concurrency = state.concurrency or state.job_concurrency or frontier.config.concurrency
    now = {"pace_ms": pace_ms(state, frontier.config), "at_once": concurrency}
    return asdict(state) | now


def _print(values: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        tell_json(values)
    else:
        Console().print(details(values))
