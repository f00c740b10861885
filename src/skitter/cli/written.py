"""A line in the audit log around a command: begun before it runs, completed after it.

What cannot be written down is not done. A line without a status is of a command that was cut off,
or still runs.
"""

from __future__ import annotations

import asyncio
import getpass
import os
import socket
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import typer
from typer.exceptions import TyperException

from skitter.access import Audit, Principal, Role
from skitter.errors import SkitterError
from skitter.masking import mask_text
from skitter.settings import load_settings, parse_sets
from skitter.store import Store

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

T = TypeVar("T")
CLI = "cli"
DONE, REFUSED, FAILED = 200, 400, 500
"""As an API would answer. Done is what came to its end; the exit code may say more of it."""
REPLACING = frozenset({"restore"})
"""The store is another one afterwards, which has no line of what was begun."""


@dataclass(frozen=True)
class Change:
    """A command, what was named to it, and its options."""

    path: str
    named: list[Any]
    options: dict[str, Any]

    @property
    def action(self) -> str:
        """The command as it was typed, without options."""
        words = [one for each in self.named for one in (each if isinstance(each, list) else [each])]
        return mask_text(" ".join(["skitter", self.path, *map(str, words)]))


@contextmanager
def written(change: Change) -> Iterator[None]:
    """Write down what is done meanwhile."""
    url = load_settings(parse_sets(change.options.get("sets", []))).store.url
    line = asyncio.run(_on(url, lambda audit: _begin(audit, change)))
    detail = {name: value for name, value in change.options.items() if name != "as_json"}
    status = None
    try:
        yield
        status = DONE
    except typer.Exit as end:
        status = DONE
        detail |= {"exit_code": end.exit_code} if end.exit_code else {}
        raise
    except (SkitterError, TyperException, typer.Abort) as error:
        status = REFUSED
        detail |= {"error": str(error)}
        raise
    except Exception:
        status = FAILED
        raise
    finally:
        if status is not None:
            _finish(url, change, line, status=status, detail=detail)


def _finish(url: str, change: Change, line: int, *, status: int, detail: dict[str, Any]) -> None:
    async def finish(audit: Audit) -> None:
        own = await _begin(audit, change) if change.path in REPLACING else line
        await audit.finish(own, status=status, detail=detail or None)

    try:
        asyncio.run(_on(url, finish))
    except SkitterError as error:  # what the command did stands all the same
        typer.echo(f"The audit log does not say how this ended: {error.summary}", err=True)


async def _begin(audit: Audit, change: Change) -> int:
    return await audit.begin(_user(), change.action, address=socket.gethostname())


async def _on(url: str, ask: Callable[[Audit], Awaitable[T]]) -> T:
    async with await Store.open(url) as store:
        return await ask(Audit(store))


def _user() -> Principal:
    """Whoever can open the store may do anything; who they are, the machine says."""
    try:
        name = getpass.getuser()
    except (KeyError, OSError):  # a container may run under a number that has no name
        name = f"uid {os.getuid()}"
    return Principal(CLI, name[:100], Role.ADMIN)
