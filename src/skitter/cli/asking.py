"""A question to the frontier, from a command that comes to look or to change one thing."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from skitter.frontier.opening import open_frontier
from skitter.lab.run import run_fast
from skitter.logs import setup_logs
from skitter.settings import load_settings, parse_sets

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from skitter.frontier import Frontier
    from skitter.services import Services

Answer = TypeVar("Answer")


def ask(sets: list[str] | None, question: Callable[[Frontier], Awaitable[Answer]]) -> Answer:
    """The answer of the frontier that the settings name; its own settings stay as they are."""
    settings = load_settings(parse_sets(sets or []))
    setup_logs(settings.log)

    async def asked() -> Answer:
        async with open_frontier(settings, guest=True) as frontier:
            return await question(frontier)

    return run_fast(asked())


def ask_services(
    sets: list[str] | None, question: Callable[[Services], Awaitable[Answer]]
) -> Answer:
    """The same of all services: jobs with their history, too."""
    settings = load_settings(parse_sets(sets or []))
    setup_logs(settings.log)

    from skitter.services import open_services  # noqa: PLC0415 - half a second: the SQL toolkit

    async def asked() -> Answer:
        async with open_services(settings, guest=True) as services:
            return await question(services)

    return run_fast(asked())


def tell_json(value: Any) -> None:
    """A result for machines, on stdout."""
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False, default=str))
