"""`skitter keys`: make, list and revoke API keys, as whoever can open the store."""

from __future__ import annotations

import asyncio
import re
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer
from rich.console import Console
from rich.table import Table

from skitter.access import Keys, Role
from skitter.cli.asking import tell_json
from skitter.cli.options import Json, Sets
from skitter.settings import load_settings, parse_sets
from skitter.store import Store

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from skitter.access import Key

app = typer.Typer(help="API keys.", no_args_is_help=True)
T = TypeVar("T")
_UNITS = {"m": 60, "h": 3_600, "d": 86_400}


@app.command()
def create(
    *,
    name: Annotated[str, typer.Argument(help="Whose it is, or what for.")],
    role: Annotated[Role, typer.Option(help="What it may do.")] = Role.VIEWER,
    project: Annotated[str | None, typer.Option(help="For this project alone.")] = None,
    expires: Annotated[
        str | None, typer.Option(metavar="30d", help="For how long: 90m, 12h, 30d.")
    ] = None,
    sets: Sets = None,
    as_json: Json = False,
) -> None:
    """Make a key. It is shown this once.

    Example: skitter keys create nightly --role operator --project shop --expires 90d
    """
    expires_s = None if expires is None else _seconds(expires)

    async def make(keys: Keys) -> tuple[Key, str]:
        return await keys.create(name=name, role=role, project=project, expires_s=expires_s)

    key, text = _run(sets, make)
    if as_json:
        tell_json(_values(key) | {"key": text})
        return
    typer.echo(f"Key {key.id} for {key.role}. It is shown this once; keep it:", err=True)
    typer.echo(text)


@app.command("list")
def list_keys(*, sets: Sets = None, as_json: Json = False) -> None:
    """List all keys, the newest first; their secrets are not known.

    Example: skitter keys list --json
    """
    found = _run(sets, lambda keys: keys.list())
    if as_json:
        tell_json([_values(key) for key in found])
        return
    table = Table("id", "name", "role", "project", "created", "last use", "ends")
    for key in found:
        ends = "revoked" if key.revoked_ms else _time(key.expires_ms) or "never"
        table.add_row(
            key.id, key.name, key.role, key.project or "all", _time(key.created_ms),
            _time(key.used_ms) or "never", ends,
        )  # fmt: skip
    Console().print(table)


@app.command()
def revoke(
    key: Annotated[str, typer.Argument(metavar="ID")], *, sets: Sets = None, as_json: Json = False
) -> None:
    """Let a key open nothing more, on all servers within a second.

    Example: skitter keys revoke ab3k9w2mzq
    """
    found = _run(sets, lambda keys: keys.revoke(key))
    if as_json:
        tell_json(_values(found))
    else:
        typer.echo(f"The key {found.id} ({found.name}) is revoked.")


def _run(sets: list[str] | None, ask: Callable[[Keys], Awaitable[T]]) -> T:
    """Ask the keys of the store."""
    settings = load_settings(parse_sets(sets or []))

    async def with_store() -> T:
        async with await Store.open(settings.store.url) as store:
            return await ask(Keys(store))

    return asyncio.run(with_store())


def _values(key: Key) -> dict[str, Any]:
    return asdict(key)


def _time(ms: int | None) -> str:
    return "" if ms is None else datetime.fromtimestamp(ms / 1000, UTC).strftime("%Y-%m-%d %H:%M")


def _seconds(text: str) -> float:
    found = re.fullmatch(r"([0-9]{1,6})([mhd])", text)
    if not found:
        raise typer.BadParameter(f"--expires {text} is not like 90m, 12h or 30d")
    return float(found[1]) * _UNITS[found[2]]
