"""`skitter orchestrator`: run one, or see who leads and how the loops go."""

from __future__ import annotations

import asyncio
import json
import signal
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any

import structlog
import typer
from rich.console import Console
from rich.table import Table

from skitter.cli.options import Sets
from skitter.errors import ServerUnavailable
from skitter.logs import setup_logs
from skitter.orchestrator.health import orchestrator_health
from skitter.orchestrator.orchestrator import Orchestrator
from skitter.orchestrator.status import read_status
from skitter.services import open_services
from skitter.settings import Settings, load_settings, parse_sets
from skitter.store import Store
from skitter.worker.health import serving_health

if TYPE_CHECKING:
    from skitter.services import Services

log = structlog.get_logger(__name__)

PAUSE_S = 1.0

app = typer.Typer()


@app.callback(invoke_without_command=True)
def run(
    context: typer.Context,
    *,
    health_port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Where to tell health and figures.")
    ] = None,
    sets: Sets = None,
) -> None:
    """Run an orchestrator until a signal ends it. Any number may run; one of them leads.

    When the leader dies, another leads within ten seconds.

    Example: skitter orchestrator --health-port 9101 --set redis.url=redis://queue:6379
    """
    if context.invoked_subcommand:
        return
    flags = parse_sets(sets or [])
    if health_port is not None:
        flags["health.orchestrator_port"] = health_port
    settings = load_settings(flags)
    setup_logs(settings.log, worker=settings.orchestrator.id or "orchestrator")
    asyncio.run(_run(settings))


@app.command()
def status(
    *,
    sets: Sets = None,
    as_json: Annotated[bool, typer.Option("--json", help="For machines.")] = False,
) -> None:
    """List the orchestrators, who of them leads, and how the loops go."""
    settings = load_settings(parse_sets(sets or []))

    async def read() -> list[dict[str, Any]]:
        async with await Store.open(settings.store.url) as store:
            return await store.read(read_status)

    found = asyncio.run(read())
    if as_json:
        typer.echo(json.dumps(found, indent=2))
    elif not found:
        typer.echo("No orchestrator runs: start one with skitter orchestrator, or skitter up.")
    else:
        Console().print(*map(_table, found))


async def _run(settings: Settings) -> None:
    """A signal ends it; what is under way may be cut off anywhere."""
    main = asyncio.current_task()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, main.cancel if main else bool)
    with suppress(asyncio.CancelledError):
        while True:
            try:
                async with open_services(settings) as services:
                    await _serve(services)
            except ServerUnavailable as error:
                if error.waited_s + PAUSE_S < settings.redis.patience_s:
                    raise  # waiting cannot help, as with a password that is refused
                log.warning("still no server", server=error.server, reason=error.reason)
            await asyncio.sleep(PAUSE_S)


async def _serve(services: Services) -> None:
    orchestrator = Orchestrator(services)
    settings = services.settings.health
    health = orchestrator_health(orchestrator, services)
    async with serving_health(health, host=settings.host, port=settings.orchestrator_port):
        await orchestrator.run()


def _table(said: dict[str, Any]) -> Table:
    leads = "leads" if said.get("leading") and said["alive"] else "stands by"
    state = leads if said["alive"] else f"silent for {said['seen_s_ago']:.0f} s"
    table = Table("loop", "rounds", "failed", "took", "error", title=f"{said['name']}: {state}")
    for name, loop in said.get("loops", {}).items():
        table.add_row(name, str(loop["runs"]), str(loop["failures"]),
                      f"{loop['took_s']:.3f} s", loop["error"])  # fmt: skip
    return table
