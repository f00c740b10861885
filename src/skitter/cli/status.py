"""`skitter status`: how everything stands, once or until Ctrl-C."""

from __future__ import annotations

import asyncio
import json
import signal
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console, Group
from rich.live import Live

from skitter.cli.asking import ask
from skitter.cli.depths import depths_table, look_deeper
from skitter.cli.meter import Meter
from skitter.cli.options import Json, Sets
from skitter.cli.overview import Overview, look
from skitter.cli.status_view import draw_status, status_line

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from rich.console import RenderableType

    from skitter.frontier import Frontier


def status(
    *,
    watch: Annotated[bool, typer.Option("--watch", "-w", help="Go on until Ctrl-C.")] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="The server, its shards and the stages of a page, too.")
    ] = False,
    every_s: Annotated[
        float, typer.Option("--every", min=0.2, max=3600, help="Seconds between two looks.")
    ] = 2.0,
    sets: Sets = None,
    as_json: Json = False,
) -> None:
    """Show how everything stands: URLs pending, queued, visited, items, errors, workers, rates.

    Not on a terminal, --watch prints a line for each look; with --json, an object.

    Examples:
    skitter status --watch

    skitter status --json | jq .pending
    """
    console = Console()
    screen = Screen(console, debug=debug, as_json=as_json)

    async def question(frontier: Frontier) -> None:
        if watch:
            await _until_signal(screen.go_on(frontier, every_s))
        else:
            await screen.show(frontier)

    ask(sets, question)


async def _until_signal(work: Coroutine[Any, Any, None]) -> None:
    """Signals are asked for: where SIGINT is ignored, as in scripts, nobody else would see it."""
    watching = asyncio.create_task(work)
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, watching.cancel)
    with suppress(asyncio.CancelledError):
        await watching


class Screen:
    """Looks, and shows what it saw in the form that was asked for."""

    def __init__(self, console: Console, *, debug: bool, as_json: bool) -> None:
        self._console = console
        self._debug = debug
        self._as_json = as_json
        self._meter = Meter()

    async def show(self, frontier: Frontier) -> None:
        """Once."""
        view, depths = await self._look(frontier)
        if self._as_json:
            typer.echo(json.dumps(self._values(view, depths), indent=2))
        else:
            self._console.print(self._drawn(view, depths))

    async def go_on(self, frontier: Frontier, every_s: float) -> None:
        """Until cancelled; on a terminal in place, elsewhere line by line."""
        if self._as_json or not self._console.is_terminal:
            while True:
                await self._tell(frontier)
                await asyncio.sleep(every_s)
        # The view is cut to the window: an alternate screen leaves what was there as it was.
        with Live(console=self._console, screen=True, auto_refresh=False) as live:
            while True:
                live.update(self._drawn(*await self._look(frontier)), refresh=True)
                await asyncio.sleep(every_s)

    async def _tell(self, frontier: Frontier) -> None:
        view, depths = await self._look(frontier)
        if self._as_json:
            typer.echo(json.dumps(self._values(view, depths)))
        else:
            typer.echo(status_line(view, self._meter, at=_now()))

    async def _look(self, frontier: Frontier) -> tuple[Overview, dict[str, Any]]:
        view = await look(frontier)
        self._meter.note(view.total)
        depths = await look_deeper(frontier, view.workers) if self._debug else {}
        return view, depths

    def _values(self, view: Overview, depths: dict[str, Any]) -> dict[str, Any]:
        return view.to_json() | ({"debug": depths} if depths else {})

    def _drawn(self, view: Overview, depths: dict[str, Any]) -> RenderableType:
        drawn = draw_status(view, self._meter, at=_now())
        return Group(drawn, "", depths_table(depths)) if depths else drawn


def _now() -> str:
    return datetime.now(UTC).astimezone().strftime("%H:%M:%S")
