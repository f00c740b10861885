"""`skitter api`: the REST API on this machine, until a signal ends it."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from skitter.cli.options import Sets
from skitter.lab.run import run_fast
from skitter.logs import setup_logs
from skitter.settings import load_settings, parse_sets

if TYPE_CHECKING:
    from skitter.settings import Settings


def api(
    host: Annotated[str | None, typer.Option(help="The address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(min=0, max=65_535, help="0: any.")] = None,
    tls_cert: Annotated[
        Path | None, typer.Option(exists=True, dir_okay=False, help="A certificate, in PEM.")
    ] = None,
    tls_key: Annotated[
        Path | None, typer.Option(exists=True, dir_okay=False, help="Its key, in PEM.")
    ] = None,
    sets: Sets = None,
) -> None:
    """Serve the REST API, on this machine alone unless told otherwise.

    The first start makes a key for an admin and prints it, once. /openapi.json describes all there
    is; Scrapy Cluster's /feed and /poll are on the same port.

    Examples:
    skitter api

    skitter api --host 0.0.0.0 --port 443 --tls-cert site.pem --tls-key site.key
    """
    flags = parse_sets(sets or [])
    given = {"host": host, "port": port, "tls_cert": tls_cert, "tls_key": tls_key}
    flags |= {f"api.{name}": _plain(value) for name, value in given.items() if value is not None}
    settings = load_settings(flags)
    setup_logs(settings.log)
    run_fast(_until_told(settings))


async def _until_told(settings: Settings) -> None:
    """Serve until SIGINT or SIGTERM; what is under way is finished."""
    loop = asyncio.get_running_loop()
    serving = asyncio.create_task(_serve(settings))
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, serving.cancel)
    with contextlib.suppress(asyncio.CancelledError):
        await serving


async def _serve(settings: Settings) -> None:
    from skitter.api.serving import serve  # noqa: PLC0415 - a second that other commands do not pay
    from skitter.services import open_services  # noqa: PLC0415 - the same

    async with open_services(settings, worker=f"api-{settings.worker.name()}", guest=True) as found:
        first = await found.keys.create_first()
        if first:
            typer.echo("The first key, for an admin. It is shown this once; keep it:", err=True)
            typer.echo(first)
        await serve(
            found, on_ready=lambda address: typer.echo(f"The API is at {address}", err=True)
        )


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, Path) else value
